import { truncateText } from '../../base/texts.ts'
import { io } from '../../cli/io.ts'
import { askToConfirm } from '../../cli/ask.ts'
import { escapeControls } from '../../base/escape.ts'
import { UsageError } from '../../cli/exit.ts'
import { countOf } from '../report/text.ts'

/** What everyone would see of a session, as far as a question can show it. Secrets are to be taken out of it before. */
export type PublicPreview = {
  /** The file of the session, or the trace's id. */
  readonly source: string
  readonly title: string | undefined
  /** The folder or the name of the project, and the branch, as everyone would see them. */
  readonly project: string | undefined
  readonly branch?: string | undefined
  readonly messages: number
  readonly firstPrompt: string | undefined
  /** Whether secrets were taken out of the messages; undefined if that is not known. */
  readonly isRedacted: boolean | undefined
  /** The reason why it would become public, such as a rule with its file. */
  readonly because: string
}

/** How the user is asked. `isTerminal` is false if nobody can answer. `confirm` returns the answer to a question. */
export type Asking = {
  readonly isTerminal: boolean
  readonly confirm: (description: string) => Promise<boolean>
}

/** Asks on the terminal of this process. */
export const terminalAsking = (): Asking => ({
  isTerminal: io().stdin.isTTY === true && io().stderr.isTTY === true,
  confirm: askToConfirm,
})

const PROMPT_CHARACTERS = 200

const onOneLine = (text: string, max: number): string => truncateText(text.replace(/\s+/g, ' ').trim(), max)

const describeSecrets = (isRedacted: boolean | undefined): string => {
  if (isRedacted === undefined) return 'not known whether secrets were taken out: another machine sent it'
  return isRedacted ? 'secrets taken out by this machine' : 'SECRETS NOT TAKEN OUT'
}

const describe = (preview: PublicPreview): string => {
  const { source, title, project, branch, messages, firstPrompt, isRedacted, because } = preview
  const shown = [`project ${project ?? 'unknown'}`, ...(branch === undefined ? [] : [`branch ${branch}`])].join(', ')
  return [
    `  ${onOneLine(title ?? 'without a title', PROMPT_CHARACTERS)}`,
    `    ${escapeControls(source)}`,
    `    ${escapeControls(shown)}, ${countOf(messages, 'message')}, ${describeSecrets(isRedacted)}`,
    ...(firstPrompt === undefined ? [] : [`    begins: ${onOneLine(firstPrompt, PROMPT_CHARACTERS)}`]),
    `    public because of ${escapeControls(because)}`,
  ].join('\n')
}

/** The question before sessions become public: says who could read them then, and what of them. */
const publicQuestion = (previews: readonly PublicPreview[], server: string): string => {
  const [these, them] = previews.length === 1 ? ['This session', 'it'] : [countOf(previews.length, 'session'), 'them']
  const readers = `everyone who reaches ${server} can read ${them}, also without an account, and finds ${them} in the public feed.`
  const later = 'What is added later becomes public too, with "sync --watch" at once.'
  return `${these} will be public: ${readers}\n${later}\n${previews.map(describe).join('\n')}`
}

/**
 * The one place that lets sessions become public: asks on a terminal whether they may, and shows what would be seen. With
 * `yes` nobody is asked. Throws UsageError if the answer is no, or if nobody can answer.
 */
export const confirmPublic = async (
  previews: readonly PublicPreview[],
  { yes, server }: { readonly yes: boolean; readonly server: string },
  asking: Asking = terminalAsking(),
): Promise<void> => {
  if (yes || previews.length === 0) return
  if (!asking.isTerminal)
    throw new UsageError(
      'making sessions public has to be confirmed, and there is no terminal: run this in a terminal, or use --yes',
    )
  if (!(await asking.confirm(publicQuestion(previews, server))))
    throw new UsageError('not confirmed: nothing was made public')
}
