/** Scrolls rows of tabs that are wider than the page, so that the tab of the page is in view. */
export const showCurrentTabs = (): void => {
  for (const link of document.querySelectorAll<HTMLElement>(':is(.bar nav, .tabs) > [aria-current]')) {
    const tabs = link.parentElement!
    const last = tabs.lastElementChild!
    const isCovered = last !== link && getComputedStyle(last).position === 'sticky'
    const end = isCovered ? last.getBoundingClientRect().left : tabs.getBoundingClientRect().right
    tabs.scrollLeft += Math.max(0, Math.ceil(link.getBoundingClientRect().right - end))
  }
}
