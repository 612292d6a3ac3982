import type { Action } from './actions.ts'
import { showLocalZone } from './zone.ts'

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
