import { element, plural } from './dom.ts'
import type { Session } from './session.ts'

/** How long after its last change a session is shown as running. */
const RUNNING_MS = 2 * 60_000

let ending: ReturnType<typeof setTimeout> | undefined

/** Says below the messages that the session is running, until it has not changed for a while. */
export const showTail = (wrapper: HTMLElement, session: Session): void => {
  const said = wrapper.querySelector('.tail > span')
  if (!said) return
  const running = element('span', { class: 'live' }, 'Still running')
  said.replaceWith(running)
  clearTimeout(ending)
  ending = setTimeout(() => running.replaceWith(element('span', {}, plural(session.count, 'message'))), RUNNING_MS)
}
