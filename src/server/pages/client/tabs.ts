/** Scrolls rows of tabs that are wider than the page, so that the tab of the page is in view. */
export const showCurrentTabs = (): void => {
  for (const link of document.querySelectorAll<HTMLElement>(':is(.bar nav, .tabs) > [aria-current]')) {
    const tabs = link.parentElement!
    tabs.scrollLeft += Math.max(0, link.getBoundingClientRect().right - tabs.getBoundingClientRect().right)
  }
}
