import { element } from './dom.ts'

/** How long after the last key the service is asked. */
const PAUSE_MS = 250

/** Says while the slug of a new namespace is typed whether it may have that one. The form checks it again when it is sent. */
export const checkSlug = (): void => {
  const field = document.querySelector<HTMLInputElement>('input[data-check]')
  if (!field) return
  const said = element('span', { role: 'status' })
  let asked: AbortController | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  const show = (text: string, isWrong: boolean) => {
    said.className = isWrong ? 'wrong' : 'hint'
    said.textContent = text
    field.setAttribute('aria-invalid', String(isWrong))
  }
  const ask = async () => {
    const slug = field.value.trim()
    const own = (asked = new AbortController())
    if (slug === '') return show('', false)
    const address = `${field.dataset['check']!}?${new URLSearchParams({ slug }).toString()}`
    const answer = await fetch(address, { headers: { accept: 'text/plain' }, signal: own.signal }).catch(
      () => undefined,
    )
    const problem = answer?.ok ? await answer.text() : undefined
    if (own.signal.aborted || problem === undefined) return
    show(problem || `@${slug.toLowerCase()} is free.`, problem !== '')
  }
  field.closest('label')!.append(said)
  field.addEventListener('input', () => {
    asked?.abort()
    clearTimeout(pause)
    field.closest('label')!.querySelector('.wrong[role=alert]')?.remove()
    pause = setTimeout(() => void ask(), PAUSE_MS)
  })
}
