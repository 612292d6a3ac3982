import { element } from './dom.ts'

const DAY_MS = 86_400_000
/** A day of an earlier year is shown with its year if it is at least so many days ago. */
const MANY_DAYS = 180

const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', options)
const weekday = format({ weekday: 'long' })
const dayAndMonth = format({ day: 'numeric', month: 'long' })
const whole = format({ day: 'numeric', month: 'long', year: 'numeric' })

const startOf = (time: Date): Date => new Date(time.getFullYear(), time.getMonth(), time.getDate())

/** The heading of a day, in the words in which the service heads days of UTC. */
const headingOf = (time: Date, now: Date): HTMLElement => {
  const ago = Math.round((startOf(now).getTime() - startOf(time).getTime()) / DAY_MS)
  const isNear = time.getFullYear() === now.getFullYear() || (ago >= 0 && ago < MANY_DAYS)
  const date = (isNear ? dayAndMonth : whole).format(time)
  const day = weekday.format(time)
  if (ago < 0 || ago >= 7) return element('h2', { class: 'day' }, date)
  const name = ['Today', 'Yesterday'][ago] ?? day
  return element('h2', { class: 'day' }, `${name} `, element('small', {}, ago < 2 ? `${day} ${date}` : date))
}

/** Divides a list of sessions by the days of the reader's time zone; the service has divided it by days of UTC. */
export const showLocalDays = (): void => {
  const sections = [...document.querySelectorAll<HTMLElement>('section.of-day')]
  const now = new Date()
  let list: HTMLElement | undefined
  let shown = ''
  for (const row of sections.flatMap((section) => [...section.querySelectorAll<HTMLElement>('.list > li')])) {
    const time = new Date(row.querySelector('time')?.dateTime ?? '')
    const day = startOf(time).toDateString()
    if (!list || day !== shown) {
      list = element('ol', { class: 'list traces' })
      sections[0]!.before(element('section', { class: 'of-day' }, headingOf(time, now), list))
      shown = day
    }
    list.append(row)
  }
  for (const section of sections) section.remove()
}
