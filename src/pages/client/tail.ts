import { element, plural } from './dom.ts'
import type { Session } from './session.ts'

/** A session counts as ended if it has not changed for so long. */
const RUNNING_MS = 2 * 60_000

let ending: ReturnType<typeof setTimeout> | undefined

/** Says below the messages that the session goes on, until it is quiet. */
export const showTail = (wrapper: HTMLElement, session: Session): void => {
  const said = wrapper.querySelector('.tail > span')
  if (!said) return
  const running = element('span', { class: 'live' }, 'Still running')
  said.replaceWith(running)
  clearTimeout(ending)
  ending = setTimeout(() => running.replaceWith(element('span', {}, plural(session.count, 'message'))), RUNNING_MS)
}
