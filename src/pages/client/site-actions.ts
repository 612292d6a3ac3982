import type { Action } from './actions.ts'
import { copyLink } from './copying.ts'
import { modifier } from './keys.ts'

const to = (path: string) => () => location.assign(path)

/** The page above this one. */
const above = (): string => {
  const parts = location.pathname.split('/').filter((part) => part !== '' && part !== '-')
  return `/${parts.slice(0, -1).join('/')}`
}

const focusSearch = () => document.querySelector<HTMLInputElement>('.bar input[type=search]')?.select()

/** The actions on every page. */
export const siteActions = (showPalette: () => void, showKeys: () => void): readonly Action[] => {
  const action = (keys: string, name: string, run: () => void): Action => ({ keys, name, run, group: 'Everywhere' })
  const changes = document.querySelector<HTMLAnchorElement>('a[href$="/-/changes"]')
  const hasSearch = document.querySelector('.bar input[type=search]') !== null
  const isInSession = document.getElementById('messages') !== null
  return [
    action(`${modifier} K`, 'Go to or do', showPalette),
    ...(hasSearch && !isInSession ? [action('/', 'Search', focusSearch)] : []),
    { ...action('g h', 'Home: all sessions', to('/')), line: 'Home', href: '/' },
    ...(changes ? [action('g f', 'Changed files', () => changes.click())] : []),
    action('u', 'Up one level', () => location.pathname !== '/' && to(above())()),
    ...(isInSession ? [] : [action('y', 'Copy link', () => void copyLink(undefined))]),
    action('?', 'Keys of this page', showKeys),
  ]
}
