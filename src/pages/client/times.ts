const two = (value: number): string => String(value).padStart(2, '0')

const clock = (time: Date): string => `${two(time.getHours())}:${two(time.getMinutes())}`
const day = (time: Date): string => `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`

const zoned = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })

const CLOCK = /\d\d:\d\d/g
const DAY = /\d{4}-\d\d-\d\d/

/** The times of day in a text, which are those of UTC on that day, as the reader's clock shows them. */
const shifted = (text: string, time: Date): string =>
  text.replace(CLOCK, (utc) => {
    const [hours = 0, minutes = 0] = utc.split(':').map(Number)
    const day = new Date(time)
    day.setUTCHours(hours, minutes)
    return clock(day)
  })

const inZone = (text: string, time: Date): string => shifted(text, time).replace(DAY, day(time)).replace(' UTC', '')

/** Writes times in the zone of the reader; the service writes them in UTC. */
export const showLocalTimes = (part: ParentNode): void => {
  for (const shown of part.querySelectorAll<HTMLTimeElement>('time[datetime]:not([title])')) {
    const time = new Date(shown.dateTime)
    if (Number.isNaN(time.getTime())) continue
    shown.title = zoned.format(time)
    if (time.getTimezoneOffset() === 0) continue
    const nodes = document.createTreeWalker(
      shown.parentElement?.matches('a.at') ? shown.parentElement : shown,
      NodeFilter.SHOW_TEXT,
    )
    while (nodes.nextNode()) nodes.currentNode.nodeValue = inZone(nodes.currentNode.nodeValue ?? '', time)
  }
}
