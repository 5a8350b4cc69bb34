package facebook

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/meta"
)

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	err := errors.New("the grant type is not known")
	refused := meta.Refusal{Code: 1, Message: "(#1) The grant type is not known"}
	switch r.FormValue("grant_type") {
	case "authorization_code":
		err = f.OAuth.Exchange(r.PostForm, true)
		refused = meta.Refusal{Code: 100, Subcode: 36009, Message: "This authorization code has been used."}
	case "fb_exchange_token":
		if err = f.OAuth.Client(r.PostForm, true); err == nil && !f.Good(r.PostForm.Get("fb_exchange_token")) {
			err = errors.New("the token has ended")
		}
		refused = meta.Refusal{Code: 190, Subcode: 463}
	}
	if err != nil {
		refused.Write(w)
		return
	}
	access, _ := f.Grant(time.Hour)
	control.JSON(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "bearer"})
}

// ReadOnly is a page on which the login may only read.
const ReadOnly = "10000000000002"

const fieldsOfPages = "id,name,username,access_token,picture{url}"

// pageOf returns a page. The list of the login says what it may do there.
func (f *Fake) pageOf(id, name, username string, tasks ...string) any {
	access, _ := f.Grant(0)
	page := map[string]any{"id": id, "name": name, "access_token": access,
		"picture": map[string]any{"data": map[string]string{"url": "https://scontent.example.test/a.jpg"}}}
	if username != "" {
		page["username"] = username
	}
	if tasks != nil {
		page["tasks"] = tasks
	}
	return page
}

// roles are the tasks that let a login publish (Pages API, Overview, Tasks). Pages of the new experience have those with
// a prefix.
var roles = []string{"CREATE_CONTENT", "MANAGE", "PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_MANAGE",
	"PROFILE_PLUS_FULL_CONTROL"}

// more returns further pages, of which the last is the same in every list.
func (f *Fake) more(of string, n int, tasks bool) (pages []any) {
	for i := range n {
		id := fmt.Sprintf("200%s%010d", of, i)
		if i == n-1 {
			id = "20000000000099"
		}
		var may []string
		if tasks {
			may = []string{"ANALYZE", roles[i%len(roles)]}
		}
		pages = append(pages, f.pageOf(id, fmt.Sprintf("Page %s %d", of, i), "", may...))
	}
	return pages
}

// accounts lists the pages. The login may not create content on one of them.
func (f *Fake) accounts(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("fields") != fieldsOfPages+",tasks" {
		bad(w)
		return
	}
	meta.List(w, r, append([]any{f.pageOf(ReadOnly, "Read only", "reads", "ANALYZE"),
		f.pageOf(Page, "Acme", "acme", "ANALYZE", "CREATE_CONTENT")}, f.more("1", f.Pages, true)...))
}

// portfolio is the portfolio of the owner, if there are pages in it.
const portfolio = "300"

// pagesOf returns the pages of the portfolio. They have no tasks, which are no field of a page.
func (f *Fake) pagesOf(edge string) []any {
	if edge == "owned_pages" {
		return append([]any{f.pageOf(ReadOnly, "Read only", "reads")}, f.more("2", f.Owned, false)...)
	}
	// A client has given the portfolio a page on which the login has no role: it has no token.
	return append([]any{map[string]any{"id": "10000000000003", "name": "No role"}}, f.more("3", f.Client, false)...)
}

func (f *Fake) businesses(w http.ResponseWriter, r *http.Request) {
	if f.Owned+f.Client == 0 {
		refuse(w, http.StatusForbidden, 200, 0) // the login has no portfolios
		return
	}
	const owned, client = ",owned_pages.limit(100){" + fieldsOfPages + "}", ",client_pages.limit(100){" + fieldsOfPages + "}"
	fields := r.URL.Query().Get("fields")
	if fields != "id"+owned+client && fields != "id"+owned {
		bad(w)
		return
	}
	of := map[string]any{"id": portfolio, "owned_pages": meta.Page(f.pagesOf("owned_pages"), 0, 100)}
	if fields == "id"+owned+client {
		of["client_pages"] = meta.Page(f.pagesOf("client_pages"), 0, 100)
	}
	meta.List(w, r, []any{of})
}

// ofPortfolio lists the pages of the portfolio.
func (f *Fake) ofPortfolio(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("fields") != fieldsOfPages || r.PathValue("portfolio") != portfolio {
		bad(w)
		return
	}
	_, edge, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v26.0/"), "/")
	meta.List(w, r, f.pagesOf(edge))
}
