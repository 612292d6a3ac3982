/** The number of prompts of an outline that are put into the page, or taken out of it, together. */
const GROUP = 10
/** An outline of fewer prompts is in the page as a whole. */
const FEWEST = 60

export const linkOf = (prompt: HTMLElement): HTMLAnchorElement => prompt.querySelector('a')!

export const ordinalIn = (link: HTMLElement): number => Number(link.dataset['ordinal'])

/** The prompts of an outline. */
type Prompts = {
  all(): readonly HTMLElement[]
  /** Makes a prompt the current one: it is scrolled into view, and stays in the page. */
  show(prompt: HTMLElement): void
  add(prompt: HTMLElement): void
}

/** Prompts that follow each other, and an element that is as high as they are where they are not in the page. */
type Group = { readonly prompts: HTMLElement[]; readonly gap: HTMLElement; height: number; isShown: boolean }

const newGroup = (prompts: HTMLElement[]): Group => {
  const gap = document.createElement('li')
  gap.ariaHidden = 'true'
  return { prompts, gap, height: 0, isShown: true }
}

const show = (group: Group) => {
  if (group.isShown) return
  group.gap.replaceWith(...group.prompts)
  group.isShown = true
}

const hide = (group: Group) => {
  if (!group.isShown) return
  group.gap.style.blockSize = `${group.height}px`
  group.prompts[0]!.before(group.gap)
  for (const prompt of group.prompts) prompt.remove()
  group.isShown = false
}

/** Keeps only those prompts in the page that are near the ones in view, if there are very many. `nav` scrolls the list. */
const newWindow = (nav: HTMLElement, list: HTMLElement, prompts: readonly HTMLElement[]) => {
  const groups: Group[] = []
  let current: HTMLElement | undefined
  let isLate = false

  const describe = () => {
    const size = groups.reduce((sum, group) => sum + group.prompts.length, 0)
    let place = 0
    for (const prompt of groups.flatMap((group) => group.prompts)) {
      prompt.ariaSetSize = String(size)
      prompt.ariaPosInSet = String(++place)
    }
  }

  const put = (prompt: HTMLElement) => {
    const last = groups.at(-1)
    if (last && last.prompts.length < GROUP) last.prompts.push(prompt)
    else groups.push(newGroup([prompt]))
  }

  const isKept = ({ prompts }: Group) =>
    prompts.some((prompt) => prompt === current || prompt.contains(document.activeElement))

  const update = () => {
    isLate = false
    const { clientHeight, scrollTop } = nav
    let end = list.getBoundingClientRect().top - nav.getBoundingClientRect().top
    const changes = groups.map((group) => {
      const start = end
      end += group.height
      return (clientHeight > 0 && end > -clientHeight / 2 && start < 1.5 * clientHeight) || isKept(group) ? show : hide
    })
    for (const [i, group] of groups.entries()) changes[i]!(group)
    if (nav.scrollTop !== scrollTop) nav.scrollTop = scrollTop
  }

  /** Measures the heights of groups. While the outline is not shown, such as a sheet that is closed, they keep their last heights. */
  const measure = () => {
    if (nav.clientHeight > 0) {
      groups.forEach(show)
      const tops = groups.map(({ prompts }) => prompts[0]!.getBoundingClientRect().top)
      const end = list.getBoundingClientRect().bottom
      for (const [i, group] of groups.entries()) group.height = (tops[i + 1] ?? end) - tops[i]!
    }
    update()
  }

  for (const prompt of prompts) put(prompt)
  describe()
  nav.addEventListener('scroll', () => {
    if (!isLate) requestAnimationFrame(update)
    isLate = true
  })

  return {
    measure,
    show: (prompt: HTMLElement) => {
      current = prompt
      update()
    },
    /** `openEnd` has to be called before `add`, which puts a prompt after the last one. */
    openEnd: () => show(groups.at(-1)!),
    add: (prompt: HTMLElement) => {
      put(prompt)
      describe()
      measure()
    },
  }
}

export const newPrompts = (nav: HTMLElement, list: HTMLElement): Prompts => {
  const prompts = [...list.children].filter((one): one is HTMLElement => one.querySelector('a') !== null)
  const window = prompts.length < FEWEST ? undefined : newWindow(nav, list, prompts)
  let current: HTMLElement | undefined
  let wasShown = false

  const bringIntoView = () => {
    if (!current || nav.clientHeight === 0) return
    const [own, outer] = [linkOf(current).getBoundingClientRect(), nav.getBoundingClientRect()]
    if (own.top < outer.top || own.bottom > outer.bottom) nav.scrollTop += own.top - outer.top - outer.height / 3
  }

  // A sheet that is opened begins at the current prompt.
  new ResizeObserver(() => {
    const isShown = nav.clientHeight > 0
    window?.measure()
    if (isShown && !wasShown) bringIntoView()
    wasShown = isShown
  }).observe(nav)

  return {
    all: () => prompts,
    show: (prompt) => {
      current = prompt
      window?.show(prompt)
      bringIntoView()
    },
    add: (prompt) => {
      window?.openEnd()
      const last = prompts.at(-1)
      if (last) last.after(prompt)
      else list.prepend(prompt)
      prompts.push(prompt)
      window?.add(prompt)
    },
  }
}
