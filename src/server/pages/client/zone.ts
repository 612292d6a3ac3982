/** A cookie in which the service finds the time zone of the reader, for a page and those beneath it alone. */
const ZONE_COOKIE = 'tz'
const YEAR_S = 31_536_000

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const wanted = `${ZONE_COOKIE}=${encodeURIComponent(zone)}`

/** The cookie that the service finds here: the first one, which is that of the longest path. */
const found = (): string | undefined => document.cookie.split('; ').find((one) => one.startsWith(`${ZONE_COOKIE}=`))

/** Tells the service the time zone of the browser, for a path. */
export const tellZone = (path: string): void => {
  document.cookie = `${wanted}; path=${path}; max-age=${YEAR_S}; samesite=lax`
}

/** Shows a page with `data-zone` in the time zone of the browser, from now on. Without this script, or without cookies, its days are those of UTC. */
export const showLocalZone = (): void => {
  const shown = document.querySelector<HTMLElement>('[data-zone]')?.dataset['zone']
  if (shown === undefined || shown === zone) return
  if (found() === wanted) return // the service does not know this zone
  tellZone(location.pathname)
  if (found() === wanted) location.reload()
}
