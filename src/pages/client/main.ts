import { startCopying } from './copying.ts'
import { startKeys } from './keys.ts'
import { listActions } from './list-actions.ts'
import { newPalette } from './palette.ts'
import { newReading } from './reading.ts'
import { rowsInPage } from './rows.ts'
import { sessionActions } from './session-actions.ts'
import { siteActions } from './site-actions.ts'
import { showLocalTimes } from './times.ts'

const startSession = (messages: HTMLElement) => {
  const rows = rowsInPage(messages)
  const reading = newReading(messages, rows)
  const toEnd = () => scrollTo(0, document.documentElement.scrollHeight)
  return sessionActions(messages, reading, toEnd)
}

const start = () => {
  showLocalTimes(document)
  startCopying()
  const messages = document.getElementById('messages')
  const ofPage = [
    ...(messages ? startSession(messages) : []),
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
}

start()
document.documentElement.dataset['ready'] = ''
