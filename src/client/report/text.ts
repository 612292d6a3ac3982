import { countText } from '../../base/for-people.ts'
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

/** How many linked folders are named in a text. */
const LINKS_NAMED = 3

/** `1 linked folder left out: name it to upload it (/home/ada/.claude/projects/-w)`. */
export const linksText = (folders: readonly string[]): string => {
  const them = folders.length === 1 ? 'it' : 'them'
  const more = folders.length - LINKS_NAMED
  const named = [...folders.slice(0, LINKS_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return `${countOf(folders.length, 'linked folder')} left out: name ${them} to upload ${them} (${named})`
}

export const linksLeftOut = (folders: readonly string[]): LeftOut => ({
  type: 'left_out',
  folders,
  message: linksText(folders),
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
