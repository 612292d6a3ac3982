/** A cookie of this page alone, in which the service finds the time zone of the reader. */
const ZONE_COOKIE = 'tz'
const YEAR_S = 31_536_000

/** Shows a page with `data-zone` in the time zone of the browser, from now on. Without this script, or without cookies, its days are those of UTC. */
export const showLocalZone = (): void => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const shown = document.querySelector<HTMLElement>('[data-zone]')?.dataset['zone']
  if (shown === undefined || shown === zone) return
  const cookie = `${ZONE_COOKIE}=${encodeURIComponent(zone)}`
  if (document.cookie.split('; ').includes(cookie)) return // the service does not know this zone
  document.cookie = `${cookie}; path=${location.pathname}; max-age=${YEAR_S}; samesite=lax`
  if (document.cookie.split('; ').includes(cookie)) location.reload()
}
