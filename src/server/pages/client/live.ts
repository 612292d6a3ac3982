import { newBackoff } from '../../../contract/realtime-client/backoff.ts'
import { newRealtimeClient, type State } from '../../../contract/realtime-client/client.ts'
import { announce } from './announce.ts'
import { element, icon } from './dom.ts'
import { type Fragment, NoFragment, fetchFragment } from './fragment.ts'
import { type Session, rowsPath } from './session.ts'

type LiveListener = {
  /** Called with the rows of messages that were added or changed, as `…/-/rows?changedSince=` answers them. */
  changed(rows: DocumentFragment): void
}

/** Removes a session that the reader may no longer read: its messages, and what the head of the document says of it. */
const removeSession = (wrapper: HTMLElement) => {
  document.title = 'Tracebook'
  for (const meta of document.querySelectorAll('meta[property], meta[name=description], link[rel=alternate]'))
    meta.remove()
  const title = element('h1', { tabindex: '-1' }, 'You can no longer read this session')
  wrapper.replaceWith(
    element(
      'div',
      { class: 'page thin' },
      element(
        'main',
        { id: 'main' },
        element(
          'div',
          { class: 'blank left' },
          title,
          element(
            'p',
            { class: 'soft' },
            'It was deleted while it was open, or who may read it has changed. Its content was taken off this page.',
          ),
          element('p', {}, element('a', { class: 'btn', href: '/' }, 'Sessions')),
        ),
      ),
    ),
  )
  title.focus()
  announce('You can no longer read this session')
}

/** The banner that is shown while there is no connection. */
const newBanner = () => {
  const words = element('span', {}, '')
  const banner = element(
    'div',
    { class: 'note warn lost', role: 'status' },
    icon('offline'),
    element('div', {}, element('b', {}, 'Not connected.'), ' ', words),
  )
  let failures = 0
  return (state: State) => {
    if (state.is === 'open') {
      failures = 0
      banner.remove()
    }
    if (state.is !== 'waiting' || ++failures < 2) return
    words.textContent = `Live again in ${Math.max(1, Math.round(state.ms / 1_000))} s, then what changed is fetched.`
    if (!banner.isConnected) document.body.append(banner)
  }
}

/**
 * Follows a session: fetches its changed rows, and removes it from the page if the reader may no longer read it. Returns a function that ends the
 * following.
 */
export const followSession = (session: Session, wrapper: HTMLElement, { changed }: LiveListener): (() => void) => {
  const client = newRealtimeClient({ server: location.origin, state: newBanner() })
  const backoff = newBackoff()
  let newest = session.revision
  let isFetching = false

  const gone = () => {
    client.close()
    removeSession(wrapper)
  }

  const merge = ({ content, headers }: Fragment) => {
    session.revision = Math.max(Number(headers.get('x-revision')), session.revision)
    changed(content)
  }

  const catchUp = async () => {
    if (isFetching) return
    isFetching = true
    try {
      while (newest > session.revision) {
        const before = session.revision
        merge(await fetchFragment(rowsPath(session, `changedSince=${before}`)))
        if (session.revision === before) break // this node of the service is behind, and sends another value when it has caught up
      }
    } catch (error) {
      if (!(error instanceof NoFragment)) throw error
      if ([401, 403, 404].includes(error.status)) gone()
      else setTimeout(() => void catchUp(), backoff.next())
    } finally {
      isFetching = false
    }
  }

  client.subscribe(
    'traces:get',
    { externalId: session.externalId, namespace: session.slug },
    {
      value: (trace) => {
        if (!trace) return gone()
        session.count = trace.messageCount ?? session.count
        newest = trace.revision
        void catchUp()
      },
    },
  )
  return () => client.close()
}
