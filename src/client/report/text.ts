import { countText } from '../../base/for-people.ts'
import type { Linked } from '../agents/session-files.ts'
import type { LeftOut, Summary, Tally } from './events.ts'

/** `1 file`, `1,204 files`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`

/** How many kinds are named. */
const MOST_KINDS = 20

/** `12 parts of unknown kinds left out: x, y`. */
export const leftOutText = (parts: number, kinds: readonly string[]): string => {
  const more = kinds.length - MOST_KINDS
  const named = kinds.slice(0, MOST_KINDS).join(', ')
  return `${countOf(parts, 'part')} of unknown kinds left out: ${named}${more > 0 ? ` and ${countOf(more, 'more kind')}` : ''}`
}

/** `4 messages (3 new, 1 updated)`. */
export const tallyText = ({ messages, new: created, updated }: Tally): string => {
  const kinds = [created > 0 && `${countText(created)} new`, updated > 0 && `${countText(updated)} updated`]
  const known = kinds.filter(Boolean).join(', ')
  return `${countOf(messages, 'message')}${known && ` (${known})`}`
}

/** How many links are named in a text. */
const LINKS_NAMED = 3

const pathsOf = (links: readonly Linked[], kind: Linked['kind']): readonly string[] =>
  links.filter((link) => link.kind === kind).map(({ path }) => path)

/** `1 linked folder left out: name it to upload it (/home/ada/.claude/projects/-w)`; folders come before files. */
export const linksText = (links: readonly Linked[]): string => {
  const [folders, files] = [pathsOf(links, 'folder'), pathsOf(links, 'file')]
  const counts = [
    ...(folders.length > 0 ? [countOf(folders.length, 'linked folder')] : []),
    ...(files.length > 0 ? [countOf(files.length, 'linked file')] : []),
  ]
  const them = links.length === 1 ? 'it' : 'them'
  const more = links.length - LINKS_NAMED
  const named = [...[...folders, ...files].slice(0, LINKS_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return `${counts.join(' and ')} left out: name ${them} to upload ${them} (${named})`
}

export const linksLeftOut = (links: readonly Linked[]): LeftOut => ({
  type: 'left_out',
  folders: pathsOf(links, 'folder'),
  files: pathsOf(links, 'file'),
  message: linksText(links),
})

const skippedText = ({ skippedLines, skippedBytes }: Summary): string => {
  const lines = `${countOf(skippedLines, 'line')} skipped`
  return skippedBytes === 0 ? lines : `${lines} (${countOf(skippedBytes, 'byte')})`
}

const describeRest = (summary: Summary): string =>
  [
    summary.unchanged > 0 && `${countOf(summary.unchanged, 'session')} unchanged`,
    summary.empty > 0 && `${countOf(summary.empty, 'session')} without messages`,
    summary.deleted > 0 &&
      `${countOf(summary.deleted, 'session was', 'sessions were')} deleted on the service: left alone`,
    summary.excluded > 0 && `${countOf(summary.excluded, 'session')} not to be sent`,
    summary.held > 0 && `${countOf(summary.held, 'session')} not sent without your agreement`,
    summary.failed > 0 && `${countOf(summary.failed, 'session')} failed`,
    summary.leftOutMessages > 0 && `${countOf(summary.leftOutMessages, 'message')} left out`,
    summary.redacted > 0 && `${countOf(summary.redacted, 'secret')} taken out`,
    summary.exposed > 0 && `${countOf(summary.exposed, 'session')} with a secret in its history`,
    summary.skippedLines > 0 && skippedText(summary),
  ]
    .filter(Boolean)
    .join(', ')

/** `synced 12 sessions: 1,204 messages (1,180 new, 24 updated), 3 sessions unchanged, 1 line skipped`. */
export const summaryText = (summary: Summary): string => {
  const { dryRun, synced, messages } = summary
  const rest = describeRest(summary)
  // A session that was not sent to its end.
  if (synced === 0 && messages > 0) return `stored ${tallyText(summary)}${rest && `, ${rest}`}`
  if (synced === 0) return `nothing ${dryRun ? 'would be' : 'was'} sent${rest && `: ${rest}`}`
  return `${dryRun ? 'would sync' : 'synced'} ${countOf(synced, 'session')}: ${tallyText(summary)}${rest && `, ${rest}`}`
}
