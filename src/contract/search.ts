import { z } from 'zod'
import { isLongerThan } from '../base/texts.ts'
import { FeedTrace } from './feed.ts'
import { EXAMPLE_SLUG, count, flag, nextCursor, text, time } from './fields.ts'
import { MessageRole, messageExternalId } from './message.ts'
import { Cursor, ShortText, aTime } from './parameters.ts'
import { type Api, data } from './route.ts'
import { TimeZone } from './time-zone.ts'

const MOST_CHARACTERS = 400
const DEFAULT_LIMIT = 20
const MOST_TRACES = 100
/** In UTF-16 code units. */
const SNIPPET = 240

const Snippet = z.object({
  text: text(
    `A piece of the text as people read it, at most ${SNIPPET} UTF-16 code units: without marks of Markdown, of code up to three lines; \`…\` where it is cut`,
    'Why does the login page fail?',
  ),
  marks: z.array(z.tuple([z.int(), z.int()])).meta({
    description: 'Where in `text` the words were found: beginning and end, as UTF-16 offsets',
    examples: [[[13, 18]]],
  }),
})

const Hit = z.object({
  messageExternalId: messageExternalId.optional(),
  ordinal: count('The number of the message by arrival, from 0; absent for a hit of the trace itself').optional(),
  role: MessageRole.meta({ description: 'Who the message is from' }).optional(),
  part: count('The place of the part in its message, from 0; absent for `textContent`').optional(),
  in: z
    .enum(['trace', 'prompt', 'answer', 'thinking', 'call', 'output', 'system'])
    .meta({ description: 'The kind of text; `trace`: the title, summary, project or branch of the session' })
    .optional(),
  at: time(
    'When the message was written: its `timestamp`, else when the service first got it; of a hit of the trace itself, when the session began',
  ),
  snippet: Snippet.meta({ description: 'The piece of the text that has the most of the words' }),
})
export type Hit = z.infer<typeof Hit>

const SearchResult = z.object({
  trace: FeedTrace,
  hits: z.array(Hit).meta({ description: 'The best matches in the trace, at most three' }),
  more: count('How many further messages of the trace were found among those searched'),
})
export type SearchResult = z.infer<typeof SearchResult>

const facetNames = ['agent', 'model', 'tool', 'namespace', 'author', 'project', 'role'] as const
export type FacetName = (typeof facetNames)[number]

export const Facet = z.object({
  value: text('A value of the field', 'my-agent'),
  count: count('How many of the traces found have it'),
  name: text('The display name of an author', 'Ada').optional(),
})
export type Facet = z.infer<typeof Facet>

const facetsOf = (field: string) =>
  z
    .array(Facet)
    .meta({ description: `Values of \`${field}\`` })
    .optional()

const SearchAnswer = z.object({
  results: z.array(SearchResult).meta({ description: 'The traces of this page, with their best matches' }),
  total: z
    .object({
      value: count('How many traces were found among those searched'),
      exact: flag('Whether `value` counts all traces that have a match'),
    })
    .meta({ description: 'How many traces were found' }),
  facets: z
    .object(
      Object.fromEntries(facetNames.map((name) => [name, facetsOf(name)])) as Record<
        FacetName,
        ReturnType<typeof facetsOf>
      >,
    )
    .meta({ description: 'The most frequent values of fields in the traces found, with the number of traces' })
    .optional(),
  notUnderstood: z
    .array(
      z.object({
        text: text('The piece of `q`', 'from:tomorow'),
        why: text('What the field takes', 'from: takes a day such as 2026-05-06'),
      }),
    )
    .meta({ description: 'Fields of `q` that were left out, because they do not take the value' })
    .optional(),
  meant: z
    .array(
      z.object({
        text: text('The word in `q`', 'porject:shop'),
        instead: text('The field that it looks like', 'project:shop'),
      }),
    )
    .meta({ description: 'Words of `q` that look like fields with a mistyped name; only if nothing was found' })
    .optional(),
  complete: flag('Whether all messages were searched; if not, `nextCursor` continues with older ones'),
  indexedThrough: time('The search finds all that the service got until then'),
  nextCursor,
})
export type SearchAnswer = z.infer<typeof SearchAnswer>

const filter = (description: string, ...examples: string[]) =>
  ShortText.meta({ description, ...(examples.length > 0 ? { examples } : {}) }).optional()

/** The search over all traces that the caller may read. */
export const search = {
  'GET /v1/search': {
    tag: 'search',
    summary: 'Search all sessions that you may read',
    description:
      'Finds messages that have all words of `q`, without regard to case: whole words and parts of identifiers (`getUserName` is found by ' +
      '`user`), pieces of paths, and Chinese, Japanese and Korean by characters. `"a phrase"`, `-word`, `this OR that`, and the fields ' +
      '`agent: model: tool: role: author: project: namespace: branch: is:public has:error in:prompt|answer|thinking|call|output from: to: since:` ' +
      'have a meaning of their own; everything else in `q` is words. In `q` the times take a day (`2026-05-06`, `today`, `yesterday`, in the zone `tz`), `7d`, `24h`, `2w` (so long ago), or a ' +
      'time as the parameters do; a value that a field does not take is left out, and `notUnderstood` says so. The search covers texts, thinking, the names and arguments of ' +
      'called tools, their output and errors (the first 16 KiB and the last 4 KiB of each), and title, summary, project and branch of the ' +
      'trace. Without words, the traces are sorted by time. A message is found within two seconds after its upload.',
    auth: 'optional',
    query: {
      q: z
        .string()
        .refine((value) => !isLongerThan(value, MOST_CHARACTERS), {
          error: `must not be longer than ${MOST_CHARACTERS} characters`,
        })
        .meta({ description: 'What to find: at most 400 characters', examples: ['login'] })
        .optional(),
      agent: filter('Only traces of this agent', 'my-agent'),
      model: filter('Only traces and messages of this model', 'gpt-5'),
      tool: filter('Only messages that call this tool, as `toolTypeCounts` names it', 'bash'),
      namespace: filter('Only traces of the namespace with this slug', EXAMPLE_SLUG),
      author: filter('Only traces of this user: an id, or the name of a member of one of your namespaces', 'Ada'),
      project: filter('Only traces of this project', 'shop'),
      role: MessageRole.meta({ description: 'Only messages from this role', examples: ['user'] }).optional(),
      in: z
        .enum(['prompt', 'answer', 'thinking', 'call', 'output'])
        .meta({ description: 'Only this kind of text', examples: ['prompt'] })
        .optional(),
      from: aTime('Only messages since then').optional(),
      to: aTime('Only messages until then').optional(),
      tz: TimeZone.optional(),
      sort: z
        .enum(['relevance', 'newest'])
        .meta({ description: 'Best first, or latest first. Default: `relevance`', examples: ['newest'] })
        .optional(),
      limit: z
        .string()
        .regex(/^\d+$/, { error: 'must be a whole number' })
        .meta({
          type: 'integer',
          pattern: undefined,
          minimum: 0,
          description: `The maximum number of traces; a value above ${MOST_TRACES} counts as ${MOST_TRACES}. Default: ${DEFAULT_LIMIT}`,
          examples: [20],
        })
        .transform((value) => Math.min(Number(value), MOST_TRACES))
        .optional(),
      cursor: Cursor.optional(),
      facets: z
        .string()
        .refine((value) => value.split(',').every((name) => facetNames.some((known) => known === name)), {
          error: `must be names of fields, separated by commas: ${facetNames.join(', ')}`,
        })
        .meta({
          description: `The fields whose values \`facets\` counts, separated by commas: ${facetNames.join(', ')}`,
          examples: ['agent'],
        })
        .transform((value) => value.split(',') as FacetName[])
        .optional(),
    },
    answer: data(SearchAnswer),
    errors: {
      invalid_request:
        '`q` is longer than 400 characters, a parameter is not one of its values, or `cursor` is not the `nextCursor` of a search.',
      rate_limited:
        'Too many searches without a session came from this address. `Retry-After` says after how many seconds to try again.',
      unavailable: 'The index is being built, or cannot be reached. Everything else works; try again later.',
    },
  },
} as const satisfies Api
export const SEARCH_LIMIT = DEFAULT_LIMIT
