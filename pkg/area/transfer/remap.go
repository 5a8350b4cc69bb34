package transfer

import (
	"regexp"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
)

// names gives the resources of an import their ids. An id follows from the owner, the export and the old id: the same
// export gets the same ids each time. No id of the other account stays, of whatever kind: here it may be the id of
// something else.
type names struct {
	owner  tenant.Owner
	export string
}

// of returns the new id of a resource, or the old one if it keeps that.
func (n names) of(old string) string {
	prefix, ok := id.PrefixOf(old)
	if !ok {
		return old
	}
	at, _ := id.Time(old)
	return id.Derived(prefix, at, "import", n.owner.String(), n.export, old)
}

// idForm matches the id of a resource, and that of a file of one.
var idForm = regexp.MustCompile(`^([a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25})(_[0-9]+_[0-9]+)?$`)

// text returns a text in which an id is the new one.
func (n names) text(s string) string {
	if m := idForm.FindStringSubmatch(s); m != nil {
		return n.of(m[1]) + m[2]
	}
	return s
}

// own is the member with the pairs of the caller, in which nothing is an id of ours.
const own = "metadata"

// tree returns a JSON value with new ids. It adds the ids of resources that are parts of others to met.
func (n names) tree(v any, met map[string]string) any {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = n.tree(v[i], met)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v))
		for name, member := range v {
			if name == own {
				all[name] = member
				continue
			}
			if old, ok := member.(string); ok && name == "id" && n.of(old) != old {
				met[old] = n.of(old)
			}
			all[n.text(name)] = n.tree(member, met)
		}
		return all
	}
	return v
}

// file is the name of a file in an export: media, the id of its resource, the attempt and the name of the object.
type file struct{ resource, attempt, name string }

var fileForm = regexp.MustCompile(
	`^media/([a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25})/([0-9]{1,6})/([0-9a-zA-Z]{1,80}\.[a-z0-9]{1,8})$`)

func parseFile(name string) (file, bool) {
	m := fileForm.FindStringSubmatch(name)
	if m == nil {
		return file{}, false
	}
	return file{m[1], m[2], m[3]}, true
}

// of returns the file with its new id. Nothing else is in that place: the id follows from a hash.
func (f file) of(n names) file { f.resource = n.of(f.resource); return f }

// String returns the name of the file in an export.
func (f file) String() string { return "media/" + f.resource + "/" + f.attempt + "/" + f.name }

// key returns the key of the object of a file of an owner.
func (f file) key(o tenant.Owner) string {
	return "media/" + string(o.Account) + "/" + string(o.Mode) + "/" + f.resource + "/" + f.attempt + "/" + f.name
}
