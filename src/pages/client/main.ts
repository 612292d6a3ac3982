import { startCopying } from './copying.ts'
import { startKeys } from './keys.ts'
import { listActions } from './list-actions.ts'
import { newPalette } from './palette.ts'
import { startSession } from './session-page.ts'
import { siteActions } from './site-actions.ts'
import { showLocalTimes } from './times.ts'

const start = async () => {
  showLocalTimes(document)
  startCopying()
  const messages = document.getElementById('messages')
  const wrapper = messages?.closest<HTMLElement>('[data-trace]')
  const ofPage = [
    ...(messages && wrapper ? await startSession(messages, wrapper) : []),
    ...(document.querySelector('.list.traces') ? listActions() : []),
  ]
  const show = { palette: () => {}, keys: () => {} }
  const ofSite = siteActions(
    () => show.palette(),
    () => show.keys(),
  )
  const actions = [...ofPage, ...ofSite]
  show.palette = newPalette(actions)
  show.keys = startKeys(actions)
  document.documentElement.dataset['ready'] = ''
}

void start()
