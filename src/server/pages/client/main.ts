import { startCopying } from './copying.ts'
import { startKeys } from './keys.ts'
import { showLocalDays } from './days.ts'
import { element } from './dom.ts'
import { followFeed } from './feed-page.ts'
import { listActions, memberActions, siteActions } from './page-actions.ts'
import { startInsights } from './insights-page.ts'
import { checkSlug } from './new-namespace.ts'
import { newPalette } from './palette.ts'
import { startSearchField } from './search-field.ts'
import { startSearch } from './search-page.ts'
import { startSession } from './session-page.ts'
import { checkPicture } from './picture-field.ts'
import { showCurrentTabs } from './tabs.ts'
import { showLocalTimes } from './times.ts'

/** The button that shows the list of keys, so that readers learn of them. */
const keysButton = (run: () => void): HTMLButtonElement => {
  const button = element('button', { class: 'btn bare', type: 'button' }, 'Keys ', element('kbd', {}, '?'))
  button.addEventListener('click', run)
  return button
}

/** Resolves when the page has been painted, and the browser has gone to the message of its link; at once for a page in the background. */
const painted = (): Promise<unknown> | undefined =>
  document.hidden ? undefined : new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))

const start = async () => {
  await painted()
  showCurrentTabs()
  showLocalTimes(document)
  showLocalDays()
  startCopying()
  const { page } = document.body.dataset
  const messages = document.getElementById('messages')
  const wrapper = messages?.closest<HTMLElement>('[data-trace]')
  const session = messages && wrapper ? await startSession(messages, wrapper) : undefined
  const ofPage = [
    ...(session?.actions ?? []),
    ...(page === 'insights' ? startInsights() : []),
    ...(page === 'members' ? memberActions() : []),
    ...(page === 'search' || document.querySelector('.list.traces') ? listActions() : []),
  ]
  followFeed()
  if (page === 'search') startSearch()
  else startSearchField()
  if (page === 'new-namespace') checkSlug()
  if (page === 'namespace-settings') checkPicture()
  const show = { palette: () => {}, keys: () => {} }
  const ofSite = siteActions(
    () => show.palette(),
    () => show.keys(),
  )
  const actions = [...ofPage, ...ofSite]
  show.palette = newPalette(actions, session?.places ?? (() => []))
  show.keys = startKeys(actions)
  document.querySelector('.site > div')?.append(keysButton(() => show.keys()))
  document.documentElement.dataset['ready'] = ''
}

void start()
