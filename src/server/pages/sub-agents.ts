import { markup } from '../../transcript/html/markup.ts'
import { namespacePath, subAgentsPath, tracePath } from './links.ts'
import type { Page } from './page.ts'
import { type SessionList, olderLink, traceList } from './trace-list.ts'

type SubAgentsView = {
  readonly slug: string
  readonly externalId: string
  /** The title of the session that has started them. */
  readonly title: string
  readonly list: SessionList
  readonly now: number
}

/** `/@{slug}/{externalId}/-/sub-agents`: the sub-agents of a session, the newest first. An agent began each of them, so that no person is named. */
export const subAgentsPage = ({ slug, externalId, title, list, now }: SubAgentsView): Page => ({
  title: `Sub-agents of ${title}`,
  name: 'sub-agents',
  heading: markup`<nav class="crumbs" aria-label="Where"><a href="${namespacePath(slug)}"><bdi>@${slug}</bdi></a><span>/</span><a href="${tracePath(slug, externalId)}" dir="auto">${title}</a></nav>
<h1>Sub-agents</h1>
`,
  layout: 'wide',
  content: markup`${
    list.traces.length === 0
      ? markup`<div class="blank left"><p class="soft">This session has started no sub-agents that you may read.</p></div>\n`
      : traceList(
          list.traces.map(({ author: _, ...trace }) => trace),
          { order: 'createdAt', hasNamespaces: false, now },
        )
  }${olderLink(subAgentsPath(slug, externalId), {}, list.nextCursor)}`,
})
