// Package meta has what the fakes of Meta's platforms share: the form of refusals, the pages of lists, the rights that
// calls want, and the answers of all platforms of Meta. It is written from Meta's documents and public reports; see
// README.md of each fake.
package meta

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Refusal is an error of the Graph API
// (https://developers.facebook.com/docs/graph-api/guides/error-handling).
type Refusal struct {
	Status        int // 400 if it is 0
	Code, Subcode int
	Transient     bool
	Message       string // for developers; "refused" if it is empty
	Said          string // for users
}

// Body returns the body of the answer.
func (r Refusal) Body() string {
	e := map[string]any{"message": r.Message, "type": "OAuthException", "code": r.Code, "is_transient": r.Transient,
		"fbtrace_id": "A1"}
	if r.Message == "" {
		e["message"] = "refused"
	}
	if r.Subcode != 0 {
		e["error_subcode"] = r.Subcode
	}
	if r.Said != "" {
		e["error_user_title"], e["error_user_msg"] = "Refused", r.Said
	}
	body, err := json.Marshal(map[string]any{"error": e})
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	return string(body)
}

// Write writes the answer.
func (r Refusal) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(max(r.Status, http.StatusBadRequest))
	_, _ = w.Write([]byte(r.Body())) // the caller may have gone
}

// The size of a page of a list if a call names none, and the greatest one
// (https://developers.facebook.com/docs/graph-api/results).
const (
	perPage  = 25
	mostPage = 100
)

// List writes a page of a list: as many entries as the call asks for, from its cursor on. A page has cursors, and all but
// the last one have the address of the next, which has the access token in it. The call is refused if it asks for more
// than a page has.
func List(w http.ResponseWriter, r *http.Request, all []any) {
	q := r.URL.Query()
	limit := perPage
	if q.Has("limit") {
		limit, _ = strconv.Atoi(q.Get("limit"))
	}
	if limit < 1 || limit > mostPage {
		Refusal{Code: 100, Message: "(#100) The limit is not in the range"}.Write(w)
		return
	}
	from, err := position(q.Get("after"))
	if err != nil || from > len(all) {
		Refusal{Code: 100, Message: "(#100) The cursor is not valid"}.Write(w)
		return
	}
	control.JSON(w, http.StatusOK, Page(all, from, limit))
}

// Page returns a page of a list, for lists inside of other nodes.
func Page(all []any, from, limit int) map[string]any {
	to := min(from+limit, len(all))
	page := map[string]any{"data": append([]any{}, all[from:to]...)}
	if to == from {
		return page
	}
	paging := map[string]any{"cursors": map[string]string{"before": cursor(from), "after": cursor(to)}}
	if to < len(all) {
		paging["next"] = "https://graph.facebook.com/next?access_token=secret&limit=" + strconv.Itoa(limit) + "&after=" +
			cursor(to)
	}
	page["paging"] = paging
	return page
}

func cursor(at int) string { return "QVFI" + strconv.Itoa(at) }

func position(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	if len(cursor) < 4 {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(cursor[4:])
}

// Rights are the permissions that the owner of the account has not granted.
type Rights struct{ Lacks []string }

// Needs returns a handler that refuses calls of logins without one of the permissions of an endpoint.
func (m *Rights) Needs(h http.HandlerFunc, permissions ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, p := range permissions {
			if slices.Contains(m.Lacks, p) {
				Refusal{Status: http.StatusForbidden, Code: codeOf(p), Message: "(#" + strconv.Itoa(codeOf(p)) +
					") Requires " + p}.Write(w)
				return
			}
		}
		h(w, r)
	}
}

// codeOf returns the code of a missing permission: gitroomhq/postiz-app #1892, PipedreamHQ/pipedream #7581.
func codeOf(permission string) int {
	switch permission {
	case "pages_manage_posts":
		return 200
	case "pages_read_engagement":
		return 283
	}
	return 10
}
