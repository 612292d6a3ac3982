import type { Action } from './actions.ts'

/** A cookie of this page alone, in which the service finds the time zone of the reader. */
const ZONE_COOKIE = 'tz'
const YEAR_S = 31_536_000

/** Shows the page in the time zone of the browser, from now on. Without this script, or without cookies, its days are those of UTC. */
const showLocalZone = (): void => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const shown = document.querySelector<HTMLElement>('[data-zone]')?.dataset['zone']
  if (shown === undefined || shown === zone) return
  const cookie = `${ZONE_COOKIE}=${encodeURIComponent(zone)}`
  if (document.cookie.split('; ').includes(cookie)) return // the service does not know this zone
  document.cookie = `${cookie}; path=${location.pathname}; max-age=${YEAR_S}; samesite=lax`
  if (document.cookie.split('; ').includes(cookie)) location.reload()
}

/** The keys of the insights: each leads to another one of their periods. */
export const startInsights = (): readonly Action[] => {
  showLocalZone()
  const links = () => [...document.querySelectorAll<HTMLAnchorElement>('nav[aria-label=Period] a')]
  const go = (step: 1 | -1) => () => {
    const all = links()
    all[all.findIndex((one) => one.ariaCurrent === 'page') + step]?.click()
  }
  const line = 'Shorter, longer period'
  return [
    { keys: '[', name: 'Shorter period', line, group: 'In insights', run: go(-1) },
    { keys: ']', name: 'Longer period', line, group: 'In insights', run: go(1) },
  ]
}
