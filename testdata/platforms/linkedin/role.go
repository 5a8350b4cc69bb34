package linkedin

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Role is the role of the member in an organisation.
type Role struct{ URN, Role, State string }

// has reports whether the token has one of the scopes, which are divided by spaces.
func (f *Fake) has(scopes string) bool {
	for _, scope := range strings.Fields(scopes) {
		if slices.Contains(f.OAuth.Scopes, scope) || slices.Contains(f.Extra, scope) {
			return true
		}
	}
	return false
}

// may reports whether the token has one of the scopes, and refuses the call if it has none.
func (f *Fake) may(w http.ResponseWriter, r *http.Request, scopes string) bool {
	if !f.has(scopes) {
		say(w, http.StatusForbidden, "ACCESS_DENIED", "Not enough permissions to access: "+
			strings.Trim(strings.ReplaceAll(r.URL.Path, "/rest", ""), "/")+"."+r.Method)
		return false
	}
	return true
}

// publishes returns the scope with which an author publishes, and views the one that shows its posts' reactions.
func publishes(author string) string {
	if author == Member {
		return "w_member_social w_member_social_feed"
	}
	return "w_organization_social w_organization_social_feed"
}

func views(author string) string {
	if author == Member {
		return "r_member_social r_member_social_feed"
	}
	return "r_organization_social r_organization_social_feed"
}

// admin are the scopes that list the roles of the member.
const admin = "rw_organization_admin r_organization_admin"

// listRoles lists the roles of the member, those that the query asks for, in pages of up to 100.
func (f *Fake) listRoles(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !f.may(w, r, admin) {
		return
	}
	start, bad1 := strconv.Atoi(q.Get("start"))
	if q.Get("start") == "" {
		start, bad1 = 0, nil
	}
	count, bad2 := strconv.Atoi(q.Get("count"))
	if q.Get("count") == "" {
		count, bad2 = 10, nil
	}
	if q.Get("q") != "roleAssignee" || bad1 != nil || bad2 != nil || start < 0 || count < 1 || count > 100 {
		bad(w)
		return
	}
	all := []any{}
	for _, one := range f.Roles {
		if (q.Get("role") == "" || q.Get("role") == one.Role) && (q.Get("state") == "" || q.Get("state") == one.State) {
			all = append(all, map[string]string{"organization": one.URN, "role": one.Role, "state": one.State,
				"roleAssignee": Member})
		}
	}
	control.JSON(w, http.StatusOK, map[string]any{"elements": all[min(start, len(all)):min(start+count, len(all))],
		"paging": map[string]any{"start": start, "count": count, "total": len(all), "links": []any{}}})
}

var idList = regexp.MustCompile(`^ids=List\((\d+(?:,\d+)*)\)$`)

// lookUp tells the names of up to 100 organisations.
func (f *Fake) lookUp(w http.ResponseWriter, r *http.Request) {
	m := idList.FindStringSubmatch(r.URL.RawQuery)
	if m == nil {
		bad(w)
		return
	}
	ids := strings.Split(m[1], ",")
	results, statuses := map[string]any{}, map[string]int{}
	for _, id := range ids {
		if slices.Contains(f.Nameless, id) {
			statuses[id] = http.StatusNotFound
			continue
		}
		results[id] = nameOf(id)
	}
	if len(ids) > 100 {
		bad(w)
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"results": results, "statuses": statuses, "errors": map[string]any{}})
}

// nameOf returns the names of an organisation.
func nameOf(id string) map[string]any {
	n, _ := strconv.Atoi(id) // of a route or a list of digits
	if id == strings.TrimPrefix(Organization, "urn:li:organization:") {
		return map[string]any{"id": n, "localizedName": "Acme", "vanityName": "acme"}
	}
	return map[string]any{"id": n, "localizedName": fmt.Sprintf("Shoes %s", id), "vanityName": "shoes-" + id}
}

// organisation tells the names of one organisation to its administrators.
func (f *Fake) organisation(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	administers := slices.ContainsFunc(f.Roles, func(one Role) bool {
		return one.URN == "urn:li:organization:"+id && one.Role == "ADMINISTRATOR"
	})
	if !administers {
		say(w, http.StatusForbidden, "ACCESS_DENIED", "Not enough permissions to access: organizations.GET")
		return
	}
	control.JSON(w, http.StatusOK, nameOf(id))
}
