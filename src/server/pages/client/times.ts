const two = (value: number): string => String(value).padStart(2, '0')

const clock = (time: Date): string => `${two(time.getHours())}:${two(time.getMinutes())}`
const date = (time: Date): string => `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`

const whole = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

const CLOCK = /\d\d:\d\d/g
const DATE = /\d{4}-\d\d-\d\d/

/** A text whose times of day, which are in UTC on the day of `time`, are replaced by those of the reader's clock. */
const shifted = (text: string, time: Date): string =>
  text.replace(CLOCK, (utc) => {
    const [hours = 0, minutes = 0] = utc.split(':').map(Number)
    const moved = new Date(time)
    moved.setUTCHours(hours, minutes)
    return clock(moved)
  })

const inZone = (text: string, time: Date): string => shifted(text, time).replace(DATE, date(time)).replace(' UTC', '')

const rewrite = (part: Node, time: Date) => {
  const nodes = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
  while (nodes.nextNode()) nodes.currentNode.nodeValue = inZone(nodes.currentNode.nodeValue ?? '', time)
}

/** The time of day if it was today, else the day. */
const shortDay = (time: Date): string => {
  const now = new Date()
  if (date(time) === date(now)) return clock(time)
  return (time.getFullYear() === now.getFullYear() ? dayAndMonth : dayAndYear).format(time)
}

/** The texts of times that are rewritten as a whole, by the name of their format (`data-shows`). */
const formats: Readonly<Record<string, (time: Date) => string>> = {
  time: clock,
  day: shortDay,
  'day-and-time': (time) => `${dayAndYear.format(time)}, ${clock(time)}`,
}

/** Shows the day in the margin of a message whose day differs from that of the message before. */
const showDay = (link: Element, time: Date, before: Date | undefined) => {
  if (!before) return
  link.querySelector('small')?.remove()
  if (date(before) === date(time)) return
  const day = document.createElement('small')
  day.textContent = dayAndMonth.format(time)
  link.querySelector('time')!.after(day)
}

/** Writes times in the zone of the reader; the service writes them in UTC. */
export const showLocalTimes = (part: ParentNode): void => {
  let before: Date | undefined
  for (const shown of part.querySelectorAll<HTMLTimeElement>('time[datetime]:not([title])')) {
    const time = new Date(shown.dateTime)
    if (Number.isNaN(time.getTime())) continue
    shown.title = whole.format(time)
    if (time.getTimezoneOffset() === 0) continue
    const link = shown.closest('a.at')
    const show = link ? undefined : formats[shown.dataset['shows'] ?? '']
    if (show) {
      shown.textContent = show(time)
      continue
    }
    rewrite(link ?? shown, time)
    if (link) {
      showDay(link, time, before)
      before = time
    } else if (shown.dataset['shows'] === 'span' && shown.firstElementChild)
      shown.firstElementChild.textContent = weekday.format(time).replace(',', '')
  }
}
