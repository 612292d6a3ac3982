import { type Action, groups } from './actions.ts'
import { closest, element, icon } from './dom.ts'

/** How long a reader may take for the second key of two. */
const SEQUENCE_MS = 3_000

const TYPING = 'input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], dialog[open]'
/**
 * Whether the focused element uses a key itself: it takes text, or `Enter` activates it. The focus leaves a dialog only in the frame after it was
 * closed, and keys until then are not its own.
 */
const isTaken = (target: EventTarget | null, key: string): boolean =>
  closest(target, 'dialog:not([open])') === null &&
  (closest(target, TYPING) !== null || (key === 'Enter' && closest(target, 'a, button, summary') !== null))

const keysHtml = (keys: string): Node[] =>
  keys
    .split(' ')
    .flatMap((key, i) => [...(i > 0 ? [' '] : []), element('kbd', {}, key)])
    .map((one) => (typeof one === 'string' ? document.createTextNode(one) : one))

const section = (title: string, actions: readonly Action[]): HTMLElement => {
  const list = element('dl')
  const lines = Map.groupBy(actions, ({ line, name }) => line ?? name)
  for (const [line, some] of lines)
    list.append(element('dt', {}, line), element('dd', {}, ...some.flatMap(({ keys }) => [...keysHtml(keys), ' '])))
  return element('section', {}, element('h3', {}, title), list)
}

/** The dialog that lists the keys of this page. */
const listOf = (actions: readonly Action[], hasSingleKeys: boolean): HTMLDialogElement => {
  const close = element(
    'form',
    { method: 'dialog', class: 'push' },
    element('button', { class: 'btn bare', 'aria-label': 'Close' }, icon('close')),
  )
  const content = element('div', {})
  for (const group of groups) {
    const some = actions.filter((one) => one.group === group)
    if (some.length > 0) content.append(section(group, some))
  }
  const settings = element('a', { href: '/settings#look' }, 'settings')
  content.append(
    element(
      'p',
      { class: 'soft' },
      hasSingleKeys ? 'Single keys can be turned off in ' : 'Single keys are turned off in ',
      settings,
      '.',
    ),
  )
  const dialog = element(
    'dialog',
    { class: 'keys', 'aria-labelledby': 'keys-title' },
    element('header', {}, element('h2', { id: 'keys-title' }, 'Keys'), close),
    content,
  )
  document.body.append(dialog)
  return dialog
}

/** The modifier of shortcuts on this machine, as people call it. */
export const modifier: string = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'

/** Whether a reader has turned off keys without a modifier. */
const hasSingleKeys = (): boolean => document.documentElement.dataset['keys'] !== 'off'

/** Runs actions when their keys are pressed. Returns a function that shows the list of keys. */
export const startKeys = (actions: readonly Action[]): (() => void) => {
  const byKeys = new Map(actions.map((action) => [action.keys, action]))
  const firsts = new Set(actions.flatMap(({ keys }) => (keys.includes(' ') ? [keys.split(' ')[0]!] : [])))
  let before: { readonly key: string; readonly at: number } | undefined
  let list: HTMLDialogElement | undefined

  const pressed = (event: KeyboardEvent) => {
    const { key, target, ctrlKey, metaKey, altKey, timeStamp } = event
    const name = ctrlKey || metaKey ? `${modifier} ${key.toUpperCase()}` : key
    if (altKey || event.isComposing || event.defaultPrevented) return
    if (!ctrlKey && !metaKey && (!hasSingleKeys() || isTaken(target, key))) return
    const sequence = before && timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${name}` : name
    before = undefined
    const action = byKeys.get(sequence) ?? byKeys.get(name)
    if (!action) {
      if (firsts.has(name)) before = { key: name, at: timeStamp }
      return
    }
    event.preventDefault()
    action.run()
  }
  document.addEventListener('keydown', pressed)
  return () => {
    list ??= listOf(actions, hasSingleKeys())
    if (!list.open) list.showModal()
  }
}
