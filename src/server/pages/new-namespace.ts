import { exactly, markup } from '../../transcript/html/markup.ts'
import { wrongHtml } from './form-parts.ts'
import { NEW_NAMESPACE } from './links.ts'
import type { Page } from './page.ts'

/** Says, as text, why no new namespace may have a slug; the script of the page asks it. */
export const SLUG_CHECK = `${NEW_NAMESPACE}/slug`

/** The form as it was sent, with what is wrong with each field. */
export type NamespaceDraft = {
  readonly displayName: string
  readonly slug: string
  readonly wrong: { readonly displayName?: string | undefined; readonly slug?: string | undefined }
}

const EMPTY: NamespaceDraft = { displayName: '', slug: '', wrong: {} }

/** `/new`: a new namespace for a team. */
export const newNamespacePage = ({ displayName, slug, wrong }: NamespaceDraft = EMPTY): Page => ({
  title: 'New namespace',
  name: 'new-namespace',
  // The route of the form checks the origin of the page.
  referrer: 'same-origin',
  content: markup`<p>A namespace holds the sessions of a team. You become its admin, and invite the others.</p>
<form class="form" method="post" action="${NEW_NAMESPACE}"><label>Name
<span class="field"><input name="displayName" value="${exactly(displayName)}" autocomplete="off" required></span>${wrongHtml(wrong.displayName)}</label>
<label>Slug <span class="hint">Its name in addresses: letters, digits and single hyphens. It cannot be changed later.</span>
<span class="field"><span class="faint">@</span><input name="slug" value="${exactly(slug)}" autocomplete="off" autocapitalize="none" spellcheck="false" required data-check="${SLUG_CHECK}"></span>${wrongHtml(wrong.slug)}</label>
<div class="row"><button class="btn main">Make the namespace</button><a class="btn" href="/">Cancel</a></div></form>
`,
})
