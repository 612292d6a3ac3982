import { Command } from 'commander'
import { clientCommand } from './command.ts'

const REMOTE = ['--remote <name>', 'the remote by which its sessions are known (default: all remotes)'] as const
const AT = ['--at <revision>', 'the file as this commit has it, instead of as it is now'] as const
const NAMESPACE =
  'the namespace whose sessions are asked (default: by the rules of the repository, else that of your login)'

const whatLeaves = `Of the repository only paths, dates and keyed hashes of lines are sent. Git is run without hooks, filters
and other programs that the repository names; nothing is written into it.`

const evidence = `"replaced": a call replaced the lines that the commit removed by these; "run": a call wrote these lines into this
file. "moved": a call wrote them into another file, which is shown and never counted. All else is unknown: lines
that people typed, lines of tools that were not recorded, and lines that say too little, such as "}".`

const blameCodes = {
  0: 'success, also if nothing is known of any line',
  1: 'the server refused, or the file is binary or too long to be asked for as a whole',
  2: 'wrong usage, not logged in, or there is no such file, line, commit or repository',
}

const rangeMembers = '"path","start","end","commit"?,"evidence","trace","message","callId","author","model"?,"at","url"'
const linesDocument = [
  '{"type":"lines","total","weak","replaced","run","moved","unknown"}',
  'numbers of lines',
] as const

const blame = (): Command =>
  clientCommand(
    new Command('blame')
      .argument('<file>', 'the file, or lines of it: src/app.ts:12 or src/app.ts:12-40')
      .option(...AT)
      .option(...REMOTE)
      .option('--no-pager', 'print without a pager'),
    {
      help: {
        about: `
Shows each line of a file with the session that wrote it, of any member of the namespace: how that is known, the
author, the agent, and the beginning of the id of the session. Lines that are not committed are asked for, too.

${evidence}

${whatLeaves}`,
        examples: [
          ['tracebook blame src/app.ts'],
          ['tracebook blame src/app.ts:120-160', 'only these lines'],
          ['tracebook blame src/app.ts --at v1.2', 'as it was then'],
          ['tracebook blame src/app.ts --json', 'for scripts'],
        ],
        documents: [
          [`{"type":"range",${rangeMembers}}`, 'neighbouring lines that one call wrote'],
          ['{"type":"unknown","path","start","end","commit"?}', 'neighbouring lines that are unknown'],
          linesDocument,
          ['    commit is absent for lines that are not committed; ranges ascend and leave no gap'],
        ],
        exitCodes: blameCodes,
      },
      namespace: NAMESPACE,
      load: async () => (await import('../blame.ts')).blame,
    },
  )

const why = (): Command =>
  clientCommand(
    new Command('why')
      .argument('<line>', 'a line of a file: src/app.ts:12')
      .option(...AT)
      .option(...REMOTE),
    {
      help: {
        about: `
Shows why a line is there: the prompt, what the agent said last before it wrote the line, the call that wrote it, and
a link to that. If no session is known that wrote it, this is said, with the commit that it comes from.

${whatLeaves}`,
        examples: [
          ['tracebook why src/app.ts:12'],
          ['tracebook why src/app.ts:12 --json | jq -r .prompt.text', 'for scripts'],
        ],
        documents: [
          [
            '{"type":"why","path","line","commit"?,"evidence","trace","message","callId","author","model"?,"at","url","prompt"?,"words"?,"call"?}',
            'what led to the line',
          ],
          ['{"type":"unknown","path","start","end","commit"?}', 'instead, if it is unknown'],
        ],
        exitCodes: { ...blameCodes, 0: 'success', 1: 'the line is unknown, the server refused, or the file is binary' },
      },
      namespace: NAMESPACE,
      load: async () => (await import('../why.ts')).why,
    },
  )

const commits = (): Command =>
  clientCommand(
    new Command('commits')
      .argument('[commits...]', 'ranges such as main..HEAD, or commits (default: @{upstream}..HEAD, else HEAD)')
      .option('--record', 'keep the answers in the service, for pages and lists')
      .option('--withheld', 'also measure how often a wrong session would be named')
      .option(...REMOTE),
    {
      help: {
        about: `
Says for each commit how many of its lines sessions wrote, and which sessions. Merges count only with what they
changed themselves. Binary files, files with more than 20,000 added lines and submodules are left out, which is said.

--record keeps the numbers in the service, in a script or a hook of yours: ids and dates of the commits, and numbers
of lines by session. A commit that was rebased takes the place of the one before.

--withheld asks once more for each commit without the sessions that were found: what others get then is wrong.

${evidence}

${whatLeaves}`,
        examples: [
          ['tracebook commits', 'what you have not pushed yet'],
          ['tracebook commits main..HEAD', 'a branch'],
          ['tracebook commits HEAD --record', 'the last commit, after a commit'],
          ['tracebook commits v1.2..v1.3 --withheld', 'with a measure of error'],
        ],
        documents: [
          ['{"type":"commit","commit"}', 'a commit: sha, subject, at, lines, traces, and with --record the result'],
          ['{"type":"withheld","lines","counted","withheld"}', 'with --withheld, the last one'],
          ['    lines: those that can be compared; withheld: those that other sessions would get'],
        ],
        exitCodes: {
          0: 'success',
          1: 'the server refused; with --record also: a commit is too large to be recorded',
          2: 'wrong usage, not logged in, or there is no such commit or repository',
        },
      },
      namespace: NAMESPACE,
      load: async () => (await import('../commits.ts')).commits,
    },
  )

const pr = (): Command =>
  clientCommand(
    new Command('pr')
      .argument('[base]', 'the commit or branch from which on (default: where the branch left the default branch)')
      .option(...REMOTE),
    {
      help: {
        about: `
Prints a description of the commits since a base in Markdown, for a pull request: the sessions that wrote their
lines, with links and prompts, numbers of lines by evidence, and what the sessions have cost, as far as that is
known. It is only printed: nothing is posted anywhere.

${whatLeaves}`,
        examples: [
          ['tracebook pr', 'since the branch left the default branch'],
          ['tracebook pr main'],
          ['tracebook pr > description.md', 'to edit it'],
        ],
        documents: [
          ['{"type":"session","trace","author","lines","prompts","url","cost"?}', 'a session that wrote lines'],
          linesDocument,
        ],
        exitCodes: {
          0: 'success, also if there is no commit',
          1: 'the server refused',
          2: 'wrong usage, not logged in, or there is no such commit or repository',
        },
      },
      namespace: NAMESPACE,
      load: async () => (await import('../pr.ts')).pr,
    },
  )

export const attributionCommands = { blame, why, commits, pr }
