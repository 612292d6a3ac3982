import { z } from 'zod'
import { Key, LongText, ShortText } from './parameters.ts'

/** How a trace comes from another one. */
export const parentKinds = ['call', 'fork', 'resume'] as const
export type ParentKind = (typeof parentKinds)[number]

type Definition = {
  /** Its schema in requests; absent if clients cannot give it. */
  readonly given?: z.ZodString
  /** Whether every trace has it. */
  readonly isRequired?: true
  readonly description: string
  readonly examples?: readonly string[]
}

/**
 * The text fields of a trace: for each its maximum length, its meaning and an example. Bodies, answers, events and columns are all
 * made of this list. A new field is an entry here and a new version of the read models, which get another column.
 */
const traceTexts = {
  agentId: {
    given: ShortText,
    isRequired: true,
    description: 'The agent that was recorded. Default: `unknown`',
    examples: ['my-agent'],
  },
  title: {
    given: LongText,
    description: 'The title that the client has given to the trace',
    examples: ['Mend the login page'],
  },
  projectPath: {
    given: LongText,
    description: 'The folder of the project on the machine where the session was recorded',
    examples: ['/home/ada/shop'],
  },
  projectName: { given: ShortText, description: 'The name of the project', examples: ['shop'] },
  model: {
    given: ShortText,
    description:
      'The model that was used. The service stores a model of the registry under its normalised id, any other unchanged',
    examples: ['gpt-5'],
  },
  modelName: { description: 'The name of the model in the registry; absent if the registry does not have it' },
  gitRemoteUrl: {
    given: LongText,
    description: 'The URL of the git remote of the project',
    examples: ['https://git.example.org/ada/shop.git'],
  },
  gitBranch: { given: ShortText, description: 'The git branch that was worked on', examples: ['main'] },
  gitRef: {
    given: ShortText,
    description: 'The git commit, tag or detached ref that was worked on',
    examples: ['9fceb02d0ae598e95dc970b74767f19372d61af8'],
  },
  parentExternalId: {
    given: Key,
    description:
      'The `externalId` of the trace that this one comes from, in the same namespace: that which started it, if this is the trace of a sub-agent, or that whose conversation it continues; the other trace need not exist',
    examples: ['my-earlier-session'],
  },
  parentCallId: {
    given: ShortText,
    description: 'The id of the tool call, in that trace, that started this one',
    examples: ['call-1'],
  },
  parentKind: {
    given: z
      .string()
      .refine((kind) => (parentKinds as readonly string[]).includes(kind), {
        error: `must be one of ${parentKinds.join(', ')}`,
      })
      .meta({ enum: [...parentKinds] }),
    description:
      'How it comes from that trace: `call`, as a sub-agent that was started by a tool call; `fork`, as a conversation that goes on elsewhere; ' +
      '`resume`, as one that was written anew by `tracebook resume`. Absent means `call`',
    examples: ['fork'],
  },
} as const satisfies Readonly<Record<string, Definition>>

type Texts = typeof traceTexts
export type TextName = keyof Texts
type NamesWith<Property extends string> = {
  [Name in TextName]: Texts[Name] extends { readonly [_ in Property]: unknown } ? Name : never
}[TextName]
export type RequiredName = NamesWith<'isRequired'>
type GivenName = NamesWith<'given'>

export type TraceTexts = { readonly [Name in RequiredName]: string } & {
  readonly [Name in Exclude<TextName, RequiredName>]?: string
}

export const textNames = Object.keys(traceTexts) as readonly TextName[]

/** Those that lists show, in the order of answers; a trace by itself shows the others as well. */
export const listedNames = [
  'title',
  'projectName',
  'agentId',
  'model',
  'modelName',
  'gitBranch',
  'parentExternalId',
  'parentCallId',
  'parentKind',
] as const satisfies readonly TextName[]
type DetailName = Exclude<TextName, (typeof listedNames)[number]>
export const detailNames = textNames.filter(
  (name) => !(listedNames as readonly TextName[]).includes(name),
) as readonly DetailName[]

const definitionOf = (name: TextName): Definition => traceTexts[name]

/** Whether every trace has a text. */
export const isRequired = (name: TextName): boolean => definitionOf(name).isRequired === true

const meaningOf = (name: TextName) => {
  const { description, examples } = definitionOf(name)
  return { description, ...(examples ? { examples: [...examples] } : {}) }
}

type Shape<Name extends TextName> = {
  readonly [N in Name]: N extends RequiredName ? z.ZodString : z.ZodOptional<z.ZodString>
}

/** An object's members for some of the texts, with a schema for each. */
export const shapeOf = <Name extends TextName>(names: readonly Name[], schemaOf: (name: Name) => z.ZodString) =>
  Object.fromEntries(
    names.map((name) => [name, isRequired(name) ? schemaOf(name) : schemaOf(name).optional()]),
  ) as Shape<Name>

/** As answers show some of them. */
export const shownTexts = <Name extends TextName>(names: readonly Name[]): Shape<Name> =>
  shapeOf(names, (name) => z.string().meta(meaningOf(name)))

/** As bodies give them. */
export const givenTexts = Object.fromEntries(
  textNames.flatMap((name) => {
    const { given } = definitionOf(name)
    return given ? [[name, given.meta(meaningOf(name)).optional()]] : []
  }),
) as { readonly [Name in GivenName]: z.ZodOptional<z.ZodString> }
