import { escapeControls } from '../../base/escape.ts'
import { problemText } from '../report/event-text.ts'
import type { SyncEvent } from '../report/events.ts'
import { type Output, jsonReporter, lineReporter } from '../report/reporters.ts'
import { countOf } from '../report/text.ts'
import type { ReachEvent } from './reach.ts'
import type { WatchEvent } from './watch-sessions.ts'

/** The events of a watch: those of its uploads, and its own. */
export type WatchReporter = (event: SyncEvent | WatchEvent | ReachEvent) => void

const foldersText = ({ isWatched, everyMs }: Extract<WatchEvent, { type: 'folders' }>): string =>
  isWatched
    ? 'All folders are watched again.'
    : `The system cannot watch all folders, which are searched every ${Math.ceil(everyMs / 1_000)} seconds instead. ` +
      'On Linux, "sysctl fs.inotify.max_user_watches" says how many it can watch.'

const watchingText = ({ sessions, folders }: Extract<WatchEvent, { type: 'watching' }>): string =>
  `Up to date. Watching ${countOf(sessions, 'session')} in ${countOf(folders, 'folder')}.`

/** Prints a line of text for each session that was uploaded, each problem, and each event of the watch itself. Parts of unknown kinds are said once of each session. */
export const watchLineReporter = (output: Output): WatchReporter => {
  const reportSync = lineReporter(output, false)
  const say = (text: string) => void output.err.write(`${escapeControls(text)}\n`)
  const incomplete = new Set<string>()
  return (event) => {
    // A watch has no summary that says this of all sessions.
    if (event.type === 'problem' && event.kind === 'kinds_left_out') {
      if (!incomplete.has(event.file)) say(problemText(event))
      return void incomplete.add(event.file)
    }
    if (event.type === 'watching') say(watchingText(event))
    else if (event.type === 'folders') say(foldersText(event))
    else if (event.type === 'connection') say(`${event.message}.`)
    else reportSync(event)
  }
}

/** One JSON document a line on stdout. */
export const watchJsonReporter = (output: Output): WatchReporter => {
  const report = jsonReporter(output)
  return (event) => report(event as SyncEvent)
}
