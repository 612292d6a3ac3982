import type { Summary, SyncEvent, Tally } from './events.ts'

const number = new Intl.NumberFormat('en-US')

const some = (count: number, one: string, many = `${one}s`): string =>
  `${number.format(count)} ${count === 1 ? one : many}`

const tally = ({ messages, new: created, updated }: Tally): string => {
  const kinds = [created > 0 && `${number.format(created)} new`, updated > 0 && `${number.format(updated)} updated`]
  const known = kinds.filter(Boolean).join(', ')
  return `${some(messages, 'message')}${known && ` (${known})`}`
}

const others = (summary: Summary): string =>
  [
    summary.unchanged > 0 && `${some(summary.unchanged, 'file')} unchanged`,
    summary.empty > 0 && `${some(summary.empty, 'file')} without messages`,
    summary.deleted > 0 && `${some(summary.deleted, 'session')} deleted on the server`,
    summary.failed > 0 && `${some(summary.failed, 'session')} failed`,
    summary.leftOutMessages > 0 && `${some(summary.leftOutMessages, 'message')} left out`,
    summary.skippedLines > 0 && `${some(summary.skippedLines, 'line')} skipped`,
  ]
    .filter(Boolean)
    .join(', ')

/** `synced 12 sessions: 1,204 messages (1,180 new, 24 updated), 3 files unchanged, 1 line skipped`. */
export const summaryText = (summary: Summary): string => {
  const { dryRun, synced } = summary
  const rest = others(summary)
  if (synced === 0) return `nothing ${dryRun ? 'would be' : 'was'} sent${rest && `: ${rest}`}`
  return `${dryRun ? 'would sync' : 'synced'} ${some(synced, 'session')}: ${tally(summary)}${rest && `, ${rest}`}`
}

/** Why a run ended early, as a line for people. */
export const stoppedText = (stopped: string): string => `stopped early: ${stopped}`

/** One event as a line for people; undefined for what needs none. */
export const eventText = (event: SyncEvent): string | undefined => {
  switch (event.type) {
    case 'start':
    case 'progress':
      return undefined
    case 'problem':
      return `${event.file}${event.line === undefined ? '' : `:${event.line}`}: ${event.message}`
    case 'notice':
      return `${event.file}: ${event.message}`
    case 'session': {
      const what = event.messages > 0 ? tally(event) : 'trace updated'
      return event.status === 'synced' ? `${event.file}: ${what}` : undefined
    }
    case 'summary':
      return summaryText(event)
  }
}
