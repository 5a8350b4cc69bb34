package console

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/text"
)

const searchPath = "/settings/search"

func addSearch(open func(string, func(*request) error)) {
	open("GET "+searchPath, showSearch)
}

// hit is something that a search has found.
type hit struct{ ID, Text, About, Path string }

// hits are the results of a kind.
type hits struct {
	Text string
	All  []hit
}

// mostHits bounds the results of each kind, and mostSought the characters of a search in the API.
const mostHits, mostSought = 8, 100

// searched is a list that a search reads, with the page that shows one of its rows. A name of the row is one of its
// members.
type searched struct {
	Text, API, Path string
	Members         []string
	// Ends is the member with the end of a secret, by which a person knows it.
	Ends string
	// Here reports that the page judges the rows, which it reads whole: the API does not search in the list.
	Here bool
	// Whole reports that the row has no page: the path is that of its list.
	Whole bool
}

var searchedLists = []searched{
	{Text: "Clients", API: "/v1/profiles", Path: profilesPath, Members: []string{"name"}},
	{Text: "Factories", API: "/v1/factories", Path: contentPath + "?factory_id=", Members: []string{"name"}},
	{Text: "Content", API: "/v1/content-items", Path: contentPath, Members: []string{"title", "caption", "prompt"}},
	{Text: "Social accounts", API: "/v1/social/accounts", Path: socialPath, Members: []string{"handle", "display_name"},
		Whole: true},
	{Text: "Templates", API: "/v1/templates", Path: templatesPath, Members: []string{"name"}, Here: true},
	{Text: "API keys", API: "/v1/api-keys", Path: keysPath, Members: []string{"name"}, Ends: "last4", Here: true},
	{Text: "Webhooks", API: "/v1/webhooks", Path: webhooksPath, Members: []string{"description", "url"}, Here: true},
}

// requestID is the form of the id of a request of the API.
var requestID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{13}-[0-9a-f-]{8,}$`) })

// isID reports whether a search is an id or its beginning. The middle of an id has words by chance.
func isID(search, id string) bool {
	search = strings.TrimSpace(search)
	return strings.Contains(search, "_") && strings.HasPrefix(id, search)
}

// find returns the rows of a list that have the words of a search, in one call of the API.
func (l searched) find(ctx context.Context, a api, search string) (found hits, err error) {
	found.Text = l.Text
	query, most := url.Values{}, mostNames // at most: listAll ends with the page that has as many
	if !l.Here {
		query, most = url.Values{"limit": {strconv.Itoa(mostHits)}, "q": {text.ClipText(search, mostSought)}}, 0
	}
	if l.API == "/v1/content-items" {
		query.Set("fields", "title,caption,prompt,state")
	}
	rows, err := listAll[map[string]any](ctx, a, l.API, query, most)
	for _, row := range rows {
		var names []string
		for _, member := range l.Members {
			names = append(names, textAt(row, member))
		}
		id := textAt(row, "id")
		ends := l.Ends != "" && textAt(row, l.Ends) == search
		if len(found.All) == mostHits || l.Here && !text.HasWords(search, names...) && !isID(search, id) && !ends {
			continue
		}
		one := hit{ID: id, Text: id, About: textAt(row, "state"), Path: l.Path}
		for _, name := range slices.Backward(names) {
			if line, _, _ := strings.Cut(strings.TrimSpace(name), "\n"); line != "" {
				one.Text = line
			}
		}
		switch {
		case strings.HasSuffix(l.Path, "="):
			one.Path += id
		case !l.Whole:
			one.Path += "/" + id
		}
		found.All = append(found.All, one)
	}
	return found, err
}

// search returns what has the words of a search: pages, and rows of the lists. In is the API of the only list that is
// searched, if it is not empty.
func (r *request) search(v *view, sought, in string) (all []hits, err error) {
	pages := hits{Text: "Pages"}
	if in == "" {
		if id := strings.TrimSpace(sought); requestID().MatchString(id) {
			pages.All = append(pages.All, hit{ID: id, Text: id, About: v.T("Call"), Path: auditPath + "/" + id})
		} else if page := pageOf(id); page != "" && strings.HasPrefix(page, "/settings") {
			pages.All = append(pages.All, hit{ID: id, Text: id, Path: page})
		}
		for _, l := range v.links() {
			if len(pages.All) < mostHits && text.HasWords(sought, v.T(l.Text), l.Text, l.Path) {
				pages.All = append(pages.All, hit{ID: l.Path, Text: v.T(l.Text), Path: l.Path})
			}
		}
	}
	found := make([]hits, len(searchedLists))
	var reads []func() error
	for i, l := range searchedLists {
		if in == "" || in == l.API {
			reads = append(reads, func() (err error) { found[i], err = l.find(r.Context(), r.api, sought); return err })
		}
	}
	err = atOnce(reads...)
	return slices.DeleteFunc(append([]hits{pages}, found...), func(h hits) bool { return len(h.All) == 0 }), err
}

// showSearch shows what has the words of a search: as a page, or as the options of a field in which people type.
func showSearch(r *request) error {
	sought := strings.TrimSpace(r.FormValue("q"))
	v := r.view("Search", "")
	data := map[string]any{"Text": sought, "List": r.Header.Get(partHeader) != ""}
	if sought != "" {
		all, err := r.search(v, sought, choosables[r.FormValue("in")])
		message, err := messageOf(err)
		if err != nil {
			return err
		}
		v.Error, data["Hits"] = message, all
	}
	v.Data = data
	return r.show(http.StatusOK, "search", v)
}

// mostAlike bounds the names that are compared with a typed one.
const mostAlike = 500

// choosables are the lists in which fields of forms search, by their names.
var choosables = map[string]string{"factory_id": "/v1/factories", "profile_id": "/v1/profiles"}

// resolve returns the id of the factory or profile that a person has typed the name of. A name that nothing has is the
// id of nothing.
func (r *request) resolve(field, value string) (string, error) {
	prefix := map[string]string{"factory_id": "fac_", "profile_id": "prf_"}[field]
	if prefix == "" || value == "" || strings.HasPrefix(value, prefix) {
		return value, nil
	}
	// Of names with the same words, the one that was typed may be an old one.
	all, err := listAll[named](r.Context(), r.api, choosables[field], url.Values{"q": {value}}, mostAlike)
	if err != nil {
		return "", err
	}
	for _, same := range []func(named) bool{
		func(n named) bool { return strings.TrimSpace(n.Name) == value },
		func(n named) bool { return text.Fold(n.Name) == text.Fold(value) },
		func(n named) bool { return strings.HasPrefix(text.Fold(n.Name), text.Fold(value)) },
		func(n named) bool { return true }} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i].ID, nil
		}
	}
	return prefix + strings.Repeat("0", 26), nil
}
