import { dollarsText, tokenCounts, tokensText, unpricedText } from '../../base/usage-text.ts'
import { countText } from '../../base/for-people.ts'
import type { FeedTrace } from '../../contract/feed.ts'
import type { Role } from '../../contract/namespaces.ts'
import { type Cost, MOST_UNPRICED, type UsageSums } from '../../contract/usage.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { barsByDay, heatKey, heatMap, knownCell, numberCell, shareBar } from './charts.ts'
import { clientHtml } from './commands.ts'
import { insightsPath } from './links.ts'
import { namespaceHeading } from './namespace-tabs.ts'
import type { Page } from './page.ts'
import { traceList } from './trace-list.ts'

/** The periods of the page, in days. */
export const periods = [7, 30, 90, 365] as const
export type PeriodDays = (typeof periods)[number]

/** How many sessions and messages count, and what they have used and cost, as far as that is known. */
export type ShownSums = {
  readonly traces: number
  readonly messages: number
  readonly usage?: UsageSums
  readonly cost?: Cost
}

/** The same under a name; undefined for those without one. */
export type NamedSums = ShownSums & { readonly name: string | undefined }

/** A tool with its messages, and how many of its calls have failed. */
export type NamedTool = NamedSums & { readonly failed: number }

export type ShownInsights = {
  readonly slug: string
  readonly role: Role
  /** The address of the service as commands may name it. */
  readonly service: string | undefined
  readonly period: PeriodDays
  readonly timeZone: string
  /** The dates of the period, such as `2026-11-29`, and the sums of each; undefined for a day without messages. */
  readonly dates: readonly string[]
  readonly days: readonly (ShownSums | undefined)[]
  readonly total: ShownSums
  readonly agents: readonly NamedSums[]
  readonly models: readonly NamedSums[]
  readonly projects: readonly NamedSums[]
  readonly authors: readonly NamedSums[]
  /** Whether the authors are all people of the namespace, or the reader and all others. */
  readonly seesAllAuthors: boolean
  readonly tools: readonly NamedTool[]
  /** The messages of each hour of the week, from Monday on. */
  readonly hours: readonly number[]
  /** Sessions with what the margin of the list says of each. */
  readonly dearest: readonly MarkedTrace[]
  readonly longest: readonly MarkedTrace[]
  readonly now: number
}

export type MarkedTrace = { readonly trace: FeedTrace; readonly mark: string }

const dayFormat = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })
  return (date: string) => format.format(new Date(date))
}
const dayText = dayFormat({ day: 'numeric', month: 'short' })
const wholeDay = dayFormat({ day: 'numeric', month: 'short', year: 'numeric' })
const weekdayText = dayFormat({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
const monthText = dayFormat({ month: 'short' })

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const SHORT_WEEKDAYS = ['Mon', '', 'Wed', '', 'Fri', '', '']

/** The day of the week of a date, from Monday as 0. */
const weekdayOf = (date: string): number => (new Date(date).getUTCDay() + 6) % 7

const tokensOf = ({ usage }: ShownSums): number | undefined => tokenCounts(usage).all

const tokensCell = (sums: ShownSums): Html => {
  const count = tokensOf(sums)
  return knownCell(count === undefined ? undefined : tokensText(count))
}

const costCell = ({ cost }: ShownSums): Html => knownCell(cost && dollarsText(cost.usd))

/** What the dollars are, where they are not just what the agents have recorded. */
const PRICED = {
  reported: 'as the agents recorded it',
  prices: 'at list prices',
  mixed: 'in part at list prices',
} as const

const periodLinks = ({ slug, period }: ShownInsights): Html =>
  markup`<nav class="seg push periods" aria-label="Period">${periods.map((days) => {
    const current = days === period ? markup` aria-current="page"` : none
    return markup`<a href="${insightsPath(slug, days)}"${current}>${days === 365 ? 'Year' : `${days} days`}</a>`
  })}</nav>`

const figure = (name: string, value: string | undefined, about: string): Html =>
  markup`<div><dt>${name}</dt><dd>${value ?? '–'}<small>${about}</small></dd></div>`

const cachedText = ({ usage = {} }: ShownSums): string => {
  const { input = 0, cached } = tokenCounts(usage)
  if (cached === undefined || input + cached === 0) return 'read and written'
  return `${Math.round((100 * cached) / (input + cached))} % of the input from the cache`
}

const figures = ({ total }: ShownInsights): Html => {
  const { traces, messages, cost } = total
  const tokens = tokensOf(total)
  return markup`<dl class="nums">${[
    figure('Sessions', countText(traces), 'with a message in these days'),
    figure('Messages', countText(messages), `${countText(Math.round(messages / Math.max(1, traces)))} a session`),
    figure(
      'Tokens',
      tokens === undefined ? undefined : tokensText(tokens),
      tokens === undefined ? 'not recorded' : cachedText(total),
    ),
    figure('Cost', cost && dollarsText(cost.usd), cost ? PRICED[cost.of] : 'not known'),
  ]}</dl>
`
}

const list = (names: readonly string[]): string => new Intl.ListFormat('en').format(names)

const knowsOutputOnly = ({ usage }: ShownSums): boolean =>
  usage?.outputTokens !== undefined &&
  [usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens, usage.costUsd].every((one) => one === undefined)

const nameOf = ({ name }: NamedSums): string => (name === undefined ? 'an unknown agent' : visibleLine(name))

/** Whether a model has used tokens whose price is not known: all of them, or some. */
const isUnpriced = (model: NamedSums): boolean =>
  tokensOf(model) !== undefined && (model.cost === undefined || model.cost.unpriced !== undefined)

const modelName = ({ name }: NamedSums): string => (name === undefined ? 'messages without a model' : visibleLine(name))

/** What the sums leave out. */
const notes = ({ agents, models }: ShownInsights): Html => {
  const silent = agents.filter(({ usage }) => usage === undefined).map(nameOf)
  const halfSilent = agents.filter(knowsOutputOnly).map(nameOf)
  const unpriced = unpricedText(models.filter(isUnpriced).slice(0, MOST_UNPRICED).map(modelName))
  const lines = [
    silent.length === 0
      ? undefined
      : `Sessions of ${list(silent)} have no usage: they are in no sum of tokens or cost.`,
    halfSilent.length === 0
      ? undefined
      : `Sessions of ${list(halfSilent)} have tokens of the output only: the cost is without their input.`,
    unpriced && `${unpriced[0]!.toUpperCase()}${unpriced.slice(1)}: their tokens are in no cost.`,
  ]
  return markup`${lines.map((line) => (line === undefined ? none : markup`<p class="soft">${line}</p>\n`))}`
}

const dayRow = (date: string, sums: ShownSums): Html =>
  markup`<tr><th scope="row">${weekdayText(date)}</th>${numberCell(sums.traces)}${numberCell(sums.messages)}${tokensCell(sums)}${costCell(sums)}</tr>\n`

const head = (name: string): Html =>
  markup`<thead><tr><th scope="col">${name}</th><th scope="col" class="n">Sessions</th><th scope="col" class="n">Messages</th><th scope="col" class="n">Tokens</th><th scope="col" class="n">Cost</th></tr></thead>`

const asTable = (content: Html): Html =>
  markup`<details class="more"><summary>As a table</summary>${content}</details>\n`

const byDay = ({ dates, days }: ShownInsights): Html => {
  const one = { dayText: (i: number) => dayText(dates[i]!) }
  const has = (of: (sums: ShownSums) => number | undefined) => days.some((sums) => sums && of(sums) !== undefined)
  const values = (of: (sums: ShownSums) => number | undefined) => days.map((sums) => (sums && of(sums)) ?? 0)
  const costOf = ({ cost }: ShownSums) => cost?.usd
  const rows = days.flatMap((sums, i) => (sums ? [dayRow(dates[i]!, sums)] : [])).reverse()
  return markup`<section><h2 class="day">By day</h2><div class="charts">${[
    barsByDay({ title: 'Sessions', values: values(({ traces }) => traces), isWhole: true, text: countText, ...one }),
    barsByDay({
      title: 'Messages',
      values: values(({ messages }) => messages),
      isWhole: true,
      text: countText,
      ...one,
    }),
    has(tokensOf)
      ? barsByDay({ title: 'Tokens', values: values(tokensOf), isWhole: true, text: tokensText, ...one })
      : none,
    has(costOf)
      ? barsByDay({ title: 'Cost', values: values(costOf), isWhole: false, text: dollarsText, ...one })
      : none,
  ]}</div>
${asTable(markup`<table class="grid sums all">${head('Day')}<tbody>${rows}</tbody></table>`)}</section>
`
}

/** How many rows are shown at once, and in all. */
const MOST_AT_ONCE = 8
const MOST_ROWS = 60

type Keyed = {
  readonly title: string
  readonly column: string
  readonly unnamed: string
  /** Of tools instead of tokens and cost the failed calls are shown. */
  readonly rows: readonly NamedSums[] | readonly NamedTool[]
}

const isOfTool = (one: NamedSums): one is NamedTool => 'failed' in one

const toolHead = markup`<thead><tr><th scope="col">Tool</th><th scope="col" class="n">Sessions</th><th scope="col" class="n">Messages</th><th scope="col" class="n">Failed calls</th></tr></thead>`

/** The numbers of agents, models, projects, people or tools, each with a bar: of the cost if it is known, else of the tokens or messages. */
const byKey = ({ title, column, unnamed, rows }: Keyed): Html => {
  if (rows.length === 0) return none
  const measures = {
    cost: ({ cost }: ShownSums) => cost?.usd,
    tokens: tokensOf,
    messages: ({ messages }: ShownSums) => messages,
  }
  const by = (['cost', 'tokens', 'messages'] as const).find((name) => rows.some((one) => measures[name](one)))!
  const valueOf = (one: ShownSums) => measures[by](one) ?? 0
  const most = rows.reduce((highest, one) => Math.max(highest, valueOf(one)), 0)
  const row = (one: NamedSums) => {
    const name =
      one.name === undefined
        ? markup`<span class="faint">${unnamed}</span>`
        : markup`<bdi>${visibleLine(one.name)}</bdi>`
    const rest = isOfTool(one) ? numberCell(one.failed) : markup`${tokensCell(one)}${costCell(one)}`
    return markup`<tr><th scope="row"><div>${name}${shareBar(most === 0 ? 0 : valueOf(one) / most)}</div></th>${numberCell(one.traces)}${numberCell(one.messages)}${rest}</tr>\n`
  }
  const shown = rows.slice(0, MOST_AT_ONCE)
  const more = rows.slice(MOST_AT_ONCE, MOST_ROWS)
  const left = rows.length - shown.length - more.length
  const isOfTools = rows.some(isOfTool)
  const table = (some: readonly NamedSums[]) =>
    markup`<table class="grid sums ${isOfTools ? 'few' : 'all'}">${isOfTools ? toolHead : head(column)}<tbody>${some.map(row)}</tbody></table>`
  const others =
    more.length === 0
      ? none
      : markup`<details class="more"><summary>${countText(rows.length - shown.length)} more</summary>${table(more)}${
          left === 0 ? none : markup`<p class="soft">and ${countText(left)} others</p>`
        }</details>`
  return markup`<section><h2 class="day">${title} <small>bars show ${by === 'cost' ? 'the cost' : by}</small></h2>${table(shown)}${others}</section>
`
}

const WEEK = 7
/** A longer calendar is cut into two, one below the other. */
const MOST_WEEKS = 27

type Calendar = { readonly dates: readonly string[]; readonly messages: readonly number[] }

/** The place of the first day in the grid: its weekday. */
const startOf = ({ dates }: Calendar): number => weekdayOf(dates[0]!)

const weeksOf = (calendar: Calendar): number => Math.ceil((startOf(calendar) + calendar.dates.length) / WEEK)

/** The day in a row of a column; undefined beyond the period. */
const dayAt = (calendar: Calendar, week: number, weekday: number): number | undefined => {
  const i = week * WEEK + weekday - startOf(calendar)
  return i >= 0 && i < calendar.dates.length ? i : undefined
}

/** The months that begin in the weeks of a part of a calendar, and the one with which the part begins if there is room. */
const monthNames = (calendar: Calendar, from: number, to: number) => {
  const names: { column: number; text: string }[] = []
  for (let week = from; week < to; week++) {
    const days = WEEKDAYS.map((_, weekday) => dayAt(calendar, week, weekday)).filter((i) => i !== undefined)
    const first = days.find((i) => calendar.dates[i]!.endsWith('-01')) ?? (week === from ? days[0] : undefined)
    if (first === undefined) continue
    if (names.length > 0 && week - from - names.at(-1)!.column < 3) names.pop()
    names.push({ column: week - from, text: monthText(calendar.dates[first]!) })
  }
  return names
}

const calendarTable = (calendar: Calendar): Html => {
  const rows = Array.from({ length: weeksOf(calendar) }, (_, week) => {
    const cells = WEEKDAYS.map((_name, day) => dayAt(calendar, week, day))
    const first = cells.find((i) => i !== undefined)!
    return markup`<tr><th scope="row">${dayText(calendar.dates[first]!)}</th>${cells.map((i) => (i === undefined ? markup`<td></td>` : numberCell(calendar.messages[i]!)))}</tr>\n`
  })
  return markup`<table class="grid many"><thead><tr><th scope="col">From</th>${WEEKDAYS.map((name) => markup`<th scope="col" class="n">${name.slice(0, 2)}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`
}

const calendarMap = ({ dates, days }: ShownInsights): Html => {
  const calendar = { dates, messages: days.map((sums) => sums?.messages ?? 0) }
  const weeks = weeksOf(calendar)
  const parts = weeks > MOST_WEEKS ? [0, Math.ceil(weeks / 2), weeks] : [0, weeks]
  const most = Math.max(...calendar.messages)
  const maps = parts.slice(1).map((to, i) => {
    const from = parts[i]!
    const first = dayAt(calendar, from, 0) ?? 0
    return heatMap({
      label: `Messages by day, in weeks from ${wholeDay(dates[first]!)} on`,
      columns: to - from,
      at: (column, row) => {
        const day = dayAt(calendar, from + column, row)
        return day === undefined ? undefined : calendar.messages[day]!
      },
      most,
      rowNames: SHORT_WEEKDAYS,
      columnNames: monthNames(calendar, from, to),
    })
  })
  return markup`<figure class="chart"><figcaption>Messages by day ${heatKey}</figcaption>${maps}${asTable(calendarTable(calendar))}</figure>
`
}

const HOURS = 24
const clock = (hour: number): string => `${hour}:00`

const hoursMap = ({ hours, timeZone }: ShownInsights): Html => {
  const most = Math.max(...hours)
  const peak = hours.indexOf(most)
  const rows = Array.from(
    { length: HOURS },
    (_, hour) =>
      markup`<tr><th scope="row">${clock(hour)}</th>${WEEKDAYS.map((_name, day) => numberCell(hours[day * HOURS + hour]!))}</tr>\n`,
  )
  const table = markup`<table class="grid many"><thead><tr><th scope="col">Hour</th>${WEEKDAYS.map((name) => markup`<th scope="col" class="n">${name.slice(0, 2)}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`
  const map = heatMap({
    label: `Messages by hour of the week: the most on ${WEEKDAYS[Math.floor(peak / HOURS)]!} at ${clock(peak % HOURS)}`,
    columns: HOURS,
    at: (column, row) => hours[row * HOURS + column]!,
    most,
    rowNames: SHORT_WEEKDAYS,
    columnNames: [0, 6, 12, 18].map((hour) => ({ column: hour, text: clock(hour) })),
  })
  return markup`<figure class="chart"><figcaption>Messages by hour of the week <span class="soft">${timeZone}</span></figcaption>${map}${asTable(table)}</figure>
`
}

const sessions = (title: string, about: string, traces: readonly MarkedTrace[], now: number): Html => {
  if (traces.length === 0) return none
  const marks = new Map(traces.map(({ trace, mark }) => [trace.id, mark]))
  return markup`<section><h2 class="day">${title} <small>${about}</small></h2>${traceList(
    traces.map(({ trace }) => trace),
    { order: 'createdAt', hasNamespaces: false, now, markOf: ({ id }) => marks.get(id)! },
  )}</section>
`
}

/** Which agents record nothing is known of the agents of `tracebook sync`. */
const SILENT_AGENTS =
  'Claude Code, Codex, opencode, Gemini CLI, Qwen Code and pi record what they use. Copilot CLI records the tokens of its output only, and Cursor records none.'

const nothing = ({ slug, period, service }: ShownInsights): Html => {
  const longer = periods.find((days) => days > period)
  return markup`<div class="blank left"><h2>No messages in these days</h2>
<p>Upload what your agents have recorded:</p>
${clientHtml(service, 'sync')}
<p>${SILENT_AGENTS}</p>
${longer === undefined ? none : markup`<div class="row"><a class="btn" href="${insightsPath(slug, longer)}">Look at ${longer === 365 ? 'a year' : `${longer} days`}</a></div>\n`}</div>
`
}

const everything = (insights: ShownInsights): Html => {
  const { agents, models, projects, authors, seesAllAuthors, tools, dearest, longest, total, now } = insights
  return markup`${figures(insights)}${notes(insights)}${byDay(insights)}${[
    byKey({ title: 'By agent', column: 'Agent', unnamed: 'unknown', rows: agents }),
    byKey({ title: 'By model', column: 'Model', unnamed: 'no model', rows: models }),
    byKey({ title: 'By project', column: 'Project', unnamed: 'no project', rows: projects }),
    byKey({
      title: seesAllAuthors ? 'By person' : 'You and the others',
      column: 'Person',
      unnamed: 'all others',
      rows: authors,
    }),
    byKey({ title: 'By tool', column: 'Tool', unnamed: 'unknown', rows: tools }),
  ]}<section><h2 class="day">When</h2><div class="charts">${calendarMap(insights)}${hoursMap(insights)}</div></section>
${sessions('Dearest sessions', total.cost ? PRICED[total.cost.of] : '', dearest, now)}${sessions('Longest sessions', 'by quarters of an hour with messages', longest, now)}`
}

/** `/@{slug}/-/insights`: what the sessions of a namespace have used and cost, for its members. */
export const insightsPage = (insights: ShownInsights): Page => {
  const { slug, role, dates, timeZone, total } = insights
  return {
    title: `Insights of @${slug}`,
    name: 'insights',
    heading: namespaceHeading('Insights', { slug, role }, 'insights', periodLinks(insights)),
    layout: 'wide',
    content: markup`<p class="soft" data-zone="${timeZone}">${wholeDay(dates[0]!)} to ${wholeDay(dates.at(-1)!)}, days in ${timeZone}</p>
${total.messages === 0 ? nothing(insights) : everything(insights)}`,
  }
}

/** How many quarters of an hour a session has messages in, as a time such as `6 h 15 m`. */
export const quartersText = (quarters: number): string => {
  const [hours, minutes] = [Math.floor(quarters / 4), (quarters % 4) * 15]
  if (hours === 0) return `${minutes} min`
  return minutes === 0 ? `${countText(hours)} h` : `${countText(hours)} h ${minutes} m`
}
