import { Command, Option } from 'commander'
import { visibilities } from '../../client/upload/upsert-trace.ts'
import type { Format } from '../support/export-path.ts'
import type { SortName } from '../ls.ts'
import type { By } from '../usage.ts'
import { clientCommand, yesOption } from './command.ts'
import { idHelp, sessionsEnvironment, traceArgument } from './help.ts'
import { endTime, startTime, wholeNumber } from './values.ts'

const ITS_NAMESPACE = 'the namespace that the trace is in'

const count = wholeNumber(6)

const ls = (): Command =>
  clientCommand(
    new Command('ls')
      .option('-n, --limit <count>', 'list at most this many', count, 50)
      .option('--project <name>', 'only traces of the project with this name')
      .option('--agent <id>', 'only traces of this agent, such as claude-code or codex')
      .option('--since <time>', 'only traces since a date, a time, or an age such as 7d', startTime)
      .option('--until <time>', 'only traces before a time, or up to the end of a date', endTime)
      .addOption(
        new Option(
          '--sort <by>',
          'by the time when sessions were started, created here, or updated last (default: started)',
        ).choices(['started', 'created', 'updated'] satisfies readonly SortName[]),
      )
      .option('--subagents', 'also the sub-agents of sessions, each as a trace of its own')
      .addOption(new Option('--no-subagents', 'without them, as by default').hideHelp())
      .option('--cost', 'with the tokens and dollars of each, as far as they are known')
      .option('--public', 'only public traces'),
    {
      help: {
        about: `
Lists the traces of your namespace, or with --namespace those of another one, the newest sessions first.
Members of the namespace see all its traces, others only the public ones. --public lists only public traces:
of all namespaces, or of the one given; it needs no login. "when" is when the session began; if that is
unknown, or with --public without --namespace, when it was uploaded. In a namespace with several members,
"author" is the name of the member who uploaded the trace, or the first characters of their id.

Sub-agents are left out: "sub-agents" says how many a session has, at most 100+. One that was started by a session
which is not there, or which you may not read, is listed like a session.

On a terminal, ids of your own namespace are shortened as far as the listed traces stay distinct;
"tracebook show" and the other commands accept these. In a pipe or a file nothing is shortened.`,
        examples: [
          ['tracebook ls', 'your 50 newest traces'],
          ['tracebook ls --project shop --agent codex --limit 10'],
          ['tracebook ls --since 7d', 'sessions of the last week'],
          ['tracebook ls --since 2026-01-01 --until 2026-01-31', 'sessions of January'],
          ['tracebook ls --subagents', 'also what agents have started'],
          ['tracebook ls --sort updated', 'the most recently updated first'],
          ['tracebook ls --cost', 'with what each has cost'],
          ['tracebook ls --namespace team', 'traces of a team'],
          ['tracebook ls --public', 'public traces of all namespaces'],
          ['tracebook ls --limit 1000 --json | jq -r .trace.externalId', 'for scripts'],
        ],
        documents: [['{"type":"trace","trace"}', 'a trace, as the API lists it']],
      },
      load: async () => (await import('../ls.ts')).ls,
    },
  )

const search = (): Command =>
  clientCommand(
    new Command('search')
      .argument('<words...>', 'what to find; put a query with quotation marks or a minus into quotation marks')
      .option('-n, --limit <count>', 'show at most this many sessions', count, 10)
      .option('--since <time>', 'only what was said since a date, a time, or an age such as 7d', startTime)
      .option('--until <time>', 'only what was said before a time, or up to the end of a date', endTime)
      .option('--newest', 'the latest first, instead of the best'),
    {
      help: {
        about: `
Finds messages that have all words, in all sessions that you may read, with links to them. Without a login it
searches what is public. Words are found whole, or as parts of an identifier: "getUserName" by user, and
"src/http/app.ts" by http/app. A query may have "a phrase", -word, this OR that, and fields:

  agent: model: tool: role: author: project: namespace: branch: is:public has:error
  in:prompt in:answer in:thinking in:call in:output from: to:

What was uploaded is found within two seconds.`,
        examples: [
          ['tracebook search getUserName'],
          ['tracebook search \'"no such file" has:error\'', 'a phrase, in messages with an error'],
          ['tracebook search app.ts project:shop from:2026-01-01', 'sessions of one project, of this year'],
          ['tracebook search login --since 7d', 'of the last seven days, as "login since:7d"'],
          ['tracebook search login --json | jq -r .trace.externalId', 'for scripts'],
        ],
        documents: [['{"type":"result","trace","hits","more"}', 'what was found in a trace, as the API shows it']],
      },
      namespace: 'only this namespace (default: all that you may read)',
      load: async () => (await import('../search.ts')).searchAll,
    },
  )

const show = (): Command =>
  clientCommand(
    new Command('show')
      .argument('<id>', traceArgument)
      .option('--full', 'show tool calls, their results and thinking in full')
      .option('--no-pager', 'print without a pager'),
    {
      help: {
        about: `
Shows a trace: its properties, then its messages. Tool calls, their results and thinking take one line
each; --full shows them whole. Public traces need no login.

${idHelp}

On a terminal a long trace is shown in a pager: $PAGER, else less. With PAGER=cat or --no-pager it is
printed directly. "tracebook export" writes a file; "tracebook tail" follows a trace as it changes.`,
        examples: [
          ['tracebook show 0192f0c1'],
          ['tracebook show 0192f0c1 --full', 'with tool arguments and results in full'],
          ['tracebook show https://traces.example.org/@team/0192f0c1', 'by its link'],
          ['tracebook show 0192f0c1 --json', 'for scripts'],
        ],
        documents: [
          ['{"type":"trace","trace"}', 'the trace, as the API shows it'],
          ['{"type":"message","message"}', 'each of its messages in order, with its parts'],
        ],
      },
      namespace: ITS_NAMESPACE,
      load: async () => (await import('../show.ts')).show,
    },
  )

const usageKeys: readonly By[] = [
  ...(['day', 'agent', 'model', 'project', 'author', 'tool'] as const),
  ...(['day,agent', 'day,model', 'day,project', 'day,author', 'day,tool'] as const),
]

const usage = (): Command =>
  clientCommand(
    new Command('usage')
      .addOption(new Option('--by <key>', 'by what rows are told apart').choices(usageKeys).default('day' satisfies By))
      .option('--since <time>', 'from a date, a time, or an age such as 7d on (default: the last 30 days)', startTime)
      .option('--until <time>', 'before a time, or up to the end of a date', endTime),
    {
      help: {
        about: `
Adds up what the messages of your namespace, or of that of --namespace, have used and cost, for its
members. A message counts on the day when it was written, in the time zone of this machine. What was
billed once counts once: of the messages of a resumed or forked session those that are new.

"in" are the tokens of the input that were not in the cache, with those that were written to it, "cached"
those that were read from it. "out" is the output, and "thinking" a part of it. Dollars are what the
agents have recorded; where they record none, they are computed at list prices, which need not be what a
subscription costs. "-": nothing is known, which the sums leave out, too. Cursor records no usage,
Copilot CLI only that of its output.

By tool there are no tokens, because those of an answer cannot be divided among its calls: "messages"
are those that call the tool. By author a member sees the own row and all others as one, an admin all.`,
        examples: [
          ['tracebook usage', 'the last 30 days'],
          ['tracebook usage --by model --since 7d', 'what each model has cost in a week'],
          ['tracebook usage --by project --since 2026-01-01 --until 2026-01-31', 'January, by project'],
          ['tracebook usage --by day,agent --namespace team'],
          ['tracebook usage --by model --json | jq .row.cost.usd', 'for scripts'],
        ],
        documents: [['{"type":"row","row"}', 'a row as the API shows it; numbers are exact']],
      },
      load: async () => (await import('../usage.ts')).usage,
    },
  )

const tail = (): Command =>
  clientCommand(
    new Command('tail')
      .argument('[id]', `${traceArgument} (default: all traces of your namespace)`)
      .option('--public', 'follow the public feed')
      .option('-n, --lines <count>', 'how many messages or traces to show at first', count, 10),
    {
      help: {
        about: `
Shows recent content, and then each change as it happens, until Ctrl-C. Without an id: a line for each
trace of your namespace that is new or has changed, among its 200 newest ones. With an id: the messages of
that trace; tool calls, their results and thinking on one line each. A lost connection is
re-established, and no change is missed.

${idHelp} If no trace has the given id yet, it is waited
for; give its whole id then. Public traces and the public feed need no login.`,
        examples: [
          ['tracebook tail', 'all traces of your namespace'],
          ['tracebook tail 0192f0c1', 'one trace'],
          ['tracebook tail --public --json', 'the public feed, for scripts'],
        ],
        documents: [
          ['{"type":"message","message"}', 'a message that is new or has changed, as the API shows it'],
          ['{"type":"trace","trace"}', 'a trace that is new or has changed, as the feed shows it'],
          ['{"type":"gone"}', 'what was shown was deleted, or is no longer readable'],
        ],
        exitCodes: {
          0: 'ended by Ctrl-C',
          1: 'the server refused',
          2: 'wrong usage, not logged in, or since then logged out or removed from the namespace',
        },
      },
      load: async () => (await import('../tail.ts')).tail,
    },
  )

const open = (): Command =>
  clientCommand(
    new Command('open')
      .argument('[id]', `${traceArgument} (default: the start page)`)
      .option('--no-browser', 'open no browser, print the address'),
    {
      help: {
        about: `
Opens Tracebook, or one of its traces, in your browser, signed in as you: a page asks you to confirm the
sign-in. Its address works once, within 60 seconds. Without a browser the address is printed, to be opened
on any machine of yours. Do not send it to others: anyone who opens it can act as you. To show a trace to
others, use "tracebook share". A public trace needs no login.

${idHelp}`,
        examples: [
          ['tracebook open'],
          ['tracebook open 0192f0c1', 'open the trace'],
          ['tracebook open --no-browser', 'print the address only'],
        ],
        documents: [
          ['{"type":"open","url","expiresAt"?,"opened"}', 'opened: whether a browser was started'],
          ['    expiresAt is absent for a public trace without a login: that address works for everyone'],
        ],
      },
      namespace: ITS_NAMESPACE,
      load: async () => (await import('../open.ts')).openPage,
    },
  )

const resume = (): Command =>
  clientCommand(
    new Command('resume')
      .argument('<id>', traceArgument)
      .option('--in <agent>', 'for this agent: claude-code or codex (default: the one that wrote it)')
      .option('--at <message>', 'only up to the message with this id, with the results of its calls')
      .option('--dir <folder>', 'the folder to go on in (default: this one)')
      .option('--print', 'print the lines of the file, and write none'),
    {
      help: {
        about: `
Writes a session as a new file of its agent, Claude Code or Codex, and prints the command that goes on with
it. It may be old, of another machine, or of a colleague: every session that you may read will do, and public
ones need no login. With --in a session of one of the two agents goes on in the other one.

The agent gets the whole conversation: prompts, answers, calls and their results. Thinking is left out, because
a provider takes it only from the account to which it was given; so are errors. What is left out, and what is
put in because a provider would refuse the session without it, is said on stderr. Secrets that were taken out
of a session stay out.

No file of the agent is changed; the new one has a new id, and only you can read it. "tracebook sync" uploads
it as a session of its own, which says that it continues this one.

${idHelp}`,
        examples: [
          ['tracebook resume 0192f0c1', 'in this folder'],
          ['tracebook resume 0192f0c1 --dir ~/shop'],
          ['tracebook resume 0192f0c1 --in codex', 'a session of Claude Code in Codex'],
          ['tracebook resume 0192f0c1 --at msg_01ab', 'from an earlier message on'],
          ['sh -c "$(tracebook resume 0192f0c1)"', 'go on at once'],
          ['tracebook resume 0192f0c1 --print > session.jsonl'],
        ],
        documents: [
          ['{"type":"resumed","agent","id","file","directory","command","messages","leftOut","putIn"}'],
          ['    leftOut, putIn: lists of {"what","count"}'],
        ],
        environment: sessionsEnvironment,
        exitCodes: {
          0: 'the file was written',
          1: 'the server refused, or the file could not be written',
          2: 'wrong usage, not found, not logged in, or a session of another agent, or without a prompt and an answer',
        },
      },
      namespace: ITS_NAMESPACE,
      load: async () => (await import('../resume.ts')).resume,
    },
  )

const exportCommand = (): Command =>
  clientCommand(
    new Command('export')
      .argument('[id]', traceArgument)
      .option('--all <folder>', 'write all your traces, each as a file in this folder')
      .addOption(
        new Option('--format <format>', 'what to write (default: by the name of the file, else md)').choices([
          'md',
          'html',
          'json',
        ] satisfies readonly Format[]),
      )
      .option('-o, --output <file>', 'the file to write (default: standard output)')
      .option('--revision <revision>', 'as it was at this revision, for members of its namespace')
      .option('--at <time>', 'as it was at this time (ISO 8601 with a time zone, or milliseconds since 1970)'),
    {
      help: {
        about: `
Writes one session as a file: Markdown or an HTML page to read, or JSON to import again. Public sessions
need no login. The file appears only when it is complete; only its owner can read it.

--all writes a file for each session of yours in your namespace, or in that of --namespace; for an admin,
for each session of the namespace. A file is named after the id of its session. Run it again to continue, or
to add new sessions: a file whose session has not changed is skipped.

${idHelp} To export an earlier revision, give the whole id.`,
        examples: [
          ['tracebook export 0192f0c1 --output session.html', 'a page to read'],
          ['tracebook export 0192f0c1 --format json > session.json'],
          ['tracebook export 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --at 2026-01-31T12:00:00Z', 'as it was then'],
          ['tracebook export 0192f0c1 -o session.json --json', 'report to a script what was written'],
          ['tracebook export --all backup --format json', 'all of yours, to be imported again'],
        ],
        documents: [
          ['{"type":"export","externalId","format","file","bytes"}', 'needs --output or --all'],
          ['{"type":"failed","externalId","file","message"}', 'with --all: this one was not written'],
          ['{"type":"summary","exported","skipped","failed","others","exitCode"}', 'with --all, the last one'],
          ['    skipped: unchanged since they were written; others: of other members, not written'],
        ],
        exitCodes: {
          0: 'the whole session was written, or all of them',
          1: 'the server refused, or the transfer broke off; with --all, for some of the sessions',
          2: 'wrong usage, not logged in, or the trace does not exist, or did not exist then',
        },
      },
      namespace: 'the namespace that the session is in',
      load: async () => (await import('../export.ts')).exportTrace,
    },
  )

const importCommand = (): Command =>
  clientCommand(
    new Command('import')
      .argument('<file>', 'the file')
      .addOption(new Option('--visibility <visibility>', 'who may read the session').choices(visibilities)),
    {
      help: {
        about: `
Imports a file of "tracebook export --format json": the session under its id, its messages with their
ids, order, times and parts. The whole file is checked first; if it is damaged, or is not an export,
nothing is written.

An existing session keeps its messages and gets those of the file. Repeating an import changes nothing,
so run it again if it was interrupted.

A new session gets the visibility of the file, but is never public without --visibility public. An existing
session keeps its visibility; if it is public, --visibility is required.`,
        examples: [
          ['tracebook import session.json', 'into the namespace of your login'],
          ['tracebook import session.json --namespace team --visibility direct'],
          ['tracebook import session.json --json', 'report to a script what was written'],
        ],
        documents: [
          ['{"type":"problem","kind","file","externalId"?,"message"}', 'a message that was left out'],
          ['{"type":"notice","file","externalId","message"}', 'for example: stored under another id'],
          [
            '{"type":"import","file","externalId","namespace","visibility","messages","new","updated","leftOut","others","exitCode"}',
            'the last one; others: messages that the file does not have',
          ],
        ],
        exitCodes: {
          0: 'everything was imported',
          1: 'the file is damaged, the server refused, or a message was left out',
          2: 'wrong usage, or not logged in',
        },
      },
      namespace: 'the namespace to import into (default: that of your login)',
      load: async () => (await import('../import.ts')).importFile,
    },
  )

const share = (): Command =>
  clientCommand(new Command('share').argument('<id>', traceArgument).addOption(yesOption()), {
    help: {
      about: `
Makes a trace public, and prints its link: everyone who can reach the server can then read the trace,
without a login, and finds it in the public feed. You are shown what will be visible and asked to confirm;
without a terminal, --yes is required. "tracebook unshare" makes it private again.

${idHelp}`,
      examples: [
        ['tracebook share 0192f0c1'],
        ['tracebook share 0192f0c1 --yes --json', 'for scripts that have checked its content'],
      ],
      documents: [['{"type":"share","externalId","namespace","visibility","url"}', 'visibility: public']],
    },
    namespace: ITS_NAMESPACE,
    load: async () => (await import('../share.ts')).share,
  })

const unshare = (): Command =>
  clientCommand(new Command('unshare').argument('<id>', traceArgument), {
    help: {
      about: `
Makes a trace private again: only members of its namespace can read it, its link stops working for all
others, and it leaves the public feed. Copies that others made in the meantime cannot be taken back.

${idHelp}`,
      examples: [['tracebook unshare 0192f0c1'], ['tracebook unshare 0192f0c1 --json', 'for scripts']],
      documents: [['{"type":"unshare","externalId","namespace","visibility"}', 'visibility: private']],
    },
    namespace: ITS_NAMESPACE,
    load: async () => (await import('../share.ts')).unshare,
  })

const move = (): Command =>
  clientCommand(
    new Command('move').argument('<id>', traceArgument).argument('<namespace>', 'the slug of a namespace of yours'),
    {
      help: {
        about: `
Moves a trace to another namespace that you are a member of, and prints its new link. Its sub-agents move along. It
stays what it is: messages, times, counts, who created it and who may read it, that is now the members of that
namespace. Its history begins anew there. Its old link leads on to it for everybody who may read it there; "sync"
goes on there, too.

${idHelp}`,
        examples: [['tracebook move 0192f0c1 my-team'], ['tracebook move 0192f0c1 my-team --json', 'for scripts']],
        documents: [['{"type":"moved","externalId","from","namespace","url"}', 'from, namespace: slugs']],
      },
      namespace: ITS_NAMESPACE,
      load: async () => (await import('../move.ts')).move,
    },
  )

const rm = (): Command =>
  clientCommand(
    new Command('rm')
      .argument('<id...>', 'the traces: ids, prefixes of ids, or links')
      .option('--history', 'erase only what the traces were before; they stay as they are now')
      .addOption(yesOption()),
    {
      help: {
        about: `
Deletes traces with all their messages. Their content is erased on the server for good and cannot be
restored. You are asked to confirm first; without a terminal, --yes is required. If one of the traces is not
found, none is deleted.

--history erases only the past: titles, messages and parts as they were before. The trace stays as it is now,
with its messages, ids, times and visibility. Its timeline begins anew; a summary is made anew.

The sessions on this machine stay, and "tracebook sync" uploads them again only with --force. To remove a
secret that was uploaded, run "tracebook redact".

${idHelp}`,
        examples: [
          ['tracebook rm 0192f0c1'],
          ['tracebook rm 0192f0c1 0192f0c7', 'two traces'],
          ['tracebook rm --history 0192f0c1', 'keep the trace, erase what it was before'],
          ['tracebook rm 0192f0c1 --yes --json', 'for scripts'],
        ],
        documents: [
          ['{"type":"removed","externalId","namespace","messages"}', 'for each that was deleted'],
          ['{"type":"erased","externalId","namespace","events"}', 'with --history, for each: how many events'],
        ],
      },
      namespace: 'the namespace that the traces are in',
      load: async () => (await import('../rm.ts')).rm,
    },
  )

const redact = (): Command =>
  clientCommand(
    new Command('redact')
      .argument('<id>', traceArgument)
      .option('--text <string>', 'replace this text, instead of what the rules find')
      .addOption(yesOption()),
    {
      help: {
        about: `
Removes secrets from a trace that is uploaded: reads its fields and messages, replaces what the redaction rules
of this version find, or each occurrence of --text, by [redacted:<rule>], and erases the past of the trace,
which has them too. You are shown what was found, without the values, and asked to confirm; without a terminal,
--yes is required. If nothing is found, nothing is changed.

Ids are not changed, and neither are the sessions on this machine: "tracebook sync" uploads a message again, with
the text of --text, when it changes there. A hash in the file allowed-secrets of the configuration folder lets a
value through, as for sync.

${idHelp}`,
        examples: [
          ['tracebook redact 0192f0c1'],
          ['tracebook redact 0192f0c1 --text "Jane Doe"', 'a text of your own'],
          ['tracebook redact 0192f0c1 --yes --json', 'for scripts'],
        ],
        documents: [
          ['{"type":"redaction","externalId"?,"where","rule","hash"}', 'what is replaced; externalId: of the message'],
          ['{"type":"redacted","externalId","namespace","messages","fields","erased"}', 'the last one'],
        ],
        exitCodes: {
          0: 'replaced and erased, or nothing was found',
          1: 'the server refused: the message says what is left to do',
          2: 'wrong usage, not logged in, or not confirmed',
        },
      },
      namespace: ITS_NAMESPACE,
      load: async () => (await import('../redact.ts')).redact,
    },
  )

export const traceCommands = {
  ls,
  search,
  show,
  usage,
  tail,
  open,
  resume,
  export: exportCommand,
  import: importCommand,
  share,
  unshare,
  move,
  rm,
  redact,
}
