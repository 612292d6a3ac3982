import type { UserView } from '../../contract/user.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { initials } from './shell.ts'

/** The name of a user, on one line; for one without a name, the beginning of the id. */
export const personName = ({ id, displayName }: UserView): string =>
  visibleLine(displayName ?? '') || `User ${id.slice(0, 8)}`

/** The initials of a user; a drawing for one without a name. */
export const personBadge = ({ displayName }: UserView, isViewer = false): Html =>
  markup`<span class="who${isViewer ? ' me' : ''}" aria-hidden="true">${initials(displayName ?? '') || icon('user')}</span>`

/** The name of a user, with the initials before it. */
export const personHtml = (user: UserView, isViewer: boolean): Html =>
  markup`${personBadge(user, isViewer)} <b dir="auto">${personName(user)}</b>`
