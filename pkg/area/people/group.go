package people

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// member is a member of a group.
type member struct {
	Value string `json:"value"`
}

// group is a group of a directory. The connection maps its name to a role.
type group struct {
	resource.Resource
	DisplayName string   `json:"displayName"`
	ExternalID  string   `json:"externalId,omitempty"`
	Members     []string `json:"members"`
}

// sent is a group as a directory sends it.
type sent struct {
	DisplayName string   `json:"displayName"`
	ExternalID  string   `json:"externalId"`
	Members     []member `json:"members"`
}

const (
	groupKind = "group"
	maxGroups = 500
)

func (c *call) partition() string { return "directory#groups#" + c.by.ID }

func (c *call) renderGroup(g *group) map[string]any {
	members := []any{}
	for _, m := range g.Members {
		members = append(members, map[string]string{"value": m, "$ref": c.base + "/Users/" + m})
	}
	out := map[string]any{"schemas": []string{groupSchema}, "id": g.ID, "displayName": g.DisplayName,
		"members": members, "meta": meta{"Group", g.CreatedAt, g.UpdatedAt, c.base + "/Groups/" + g.ID}}
	if g.ExternalID != "" {
		out["externalId"] = g.ExternalID
	}
	return out
}

// groups reads all groups of the connection.
func (s *SCIM) groups(c *call) (all []group, err error) {
	q := store.Query{Index: store.Table, Partition: c.partition(), Limit: 100, OldestFirst: true}
	err = s.db.Each(c.Context(), q, func(it store.Item) error {
		var g group
		if err := it.Decode(&g); err != nil {
			return err
		}
		all = append(all, g)
		return nil
	})
	return all, err
}

func (s *SCIM) findGroup(c *call, groupID string) (g group, it store.Item, err error) {
	if it, err = s.db.Get(c.Context(), store.Key{PK: c.partition(), SK: groupID}); errors.Is(err, store.ErrNotFound) {
		return g, it, missing("group")
	}
	if err != nil {
		return g, it, err
	}
	return g, it, it.Decode(&g)
}

func (s *SCIM) listGroups(c *call, _ string) (answer, error) {
	f, err := parseFilter(c.URL.Query().Get("filter"), "displayName", "externalId", "id")
	if err != nil {
		return answer{}, err
	}
	all, err := s.groups(c)
	if err != nil {
		return answer{}, err
	}
	found := []any{}
	for _, g := range all {
		value := map[string]string{"displayname": g.DisplayName, "externalid": g.ExternalID, "id": g.ID}[f.attribute]
		if f.attribute == "" || strings.EqualFold(value, f.value) {
			found = append(found, c.renderGroup(&g))
		}
	}
	return page(c, found)
}

func (s *SCIM) getGroup(c *call, groupID string) (answer, error) {
	g, _, err := s.findGroup(c, groupID)
	return answer{http.StatusOK, c.renderGroup(&g)}, err
}

// set checks and sets the attributes of a group.
func (g *group) set(from sent) error {
	if resource.IsBlank(from.DisplayName) || len(from.DisplayName) > 256 {
		return invalid("invalidValue", "displayName must have 1 to 256 characters.")
	}
	g.DisplayName, g.ExternalID, g.Members = from.DisplayName, text.ClipText(from.ExternalID, maxExternalID), []string{}
	return g.add(from.Members)
}

func (g *group) add(members []member) error {
	known := make(map[string]bool, len(g.Members))
	for _, m := range g.Members {
		known[m] = true
	}
	for _, m := range members {
		if !id.Valid(id.Person, m.Value) {
			return invalid("invalidValue", "A member must have the id of a user as its value.")
		}
		if !known[m.Value] {
			known[m.Value], g.Members = true, append(g.Members, m.Value)
		}
		if len(g.Members) > person.Most {
			return invalid("tooMany", "A group can have 1000 members.")
		}
	}
	return nil
}

func (s *SCIM) createGroup(c *call, _ string) (answer, error) {
	var from sent
	if err := read(c, &from); err != nil {
		return answer{}, err
	}
	now := s.now()
	g := group{Resource: resource.New(id.New(id.Group, now), now, nil)}
	if err := g.set(from); err != nil {
		return answer{}, err
	}
	all, err := s.groups(c)
	switch {
	case err != nil:
		return answer{}, err
	case slices.ContainsFunc(all, func(o group) bool { return strings.EqualFold(o.DisplayName, g.DisplayName) }):
		return answer{}, &failure{http.StatusConflict, "uniqueness", "A group with this displayName exists."}
	case len(all) >= maxGroups:
		return answer{}, invalid("tooMany", "There can be 500 groups.")
	}
	it, err := store.NewItem(groupKind, tenant.Of(c.account, ""), g.ID, g)
	if err != nil {
		return answer{}, err
	}
	it.Key, it.Listed = store.Key{PK: c.partition(), SK: g.ID}, store.Key{}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := s.db.Commit(c.Context(), tx); err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, c.renderGroup(&g)}, s.follow(c, "", g.DisplayName, nil, g.Members)
}

// changeGroup changes a group, and then the roles of its members. Repeating the call finishes what was interrupted.
func (s *SCIM) changeGroup(c *call, groupID string, edit func(*group) error) (answer, error) {
	var g, before group
	err := s.db.Change(c.Context(), func(tx *store.Tx) (err error) {
		var it store.Item
		if g, it, err = s.findGroup(c, groupID); err != nil {
			return err
		}
		before = g
		before.Members = slices.Clone(g.Members)
		if err := edit(&g); err != nil {
			return err
		}
		g.Touch(s.now())
		err = it.Encode(g)
		tx.Replace(it)
		return err
	})
	switch {
	case errors.Is(err, store.ErrConflict):
		return answer{}, errs.Wrap(err, errs.ProviderUnavailable, "The group is being changed by other calls.")
	case err != nil:
		return answer{}, err
	}
	return answer{http.StatusOK, c.renderGroup(&g)}, s.follow(c, before.DisplayName, g.DisplayName, before.Members,
		g.Members)
}

// follow gives people the names of their groups, and the roles that follow.
func (s *SCIM) follow(c *call, oldName, name string, before, after []string) error {
	people := slices.Concat(before, after)
	slices.Sort(people)
	for _, personID := range slices.Compact(people) {
		_, err := s.change(c, personID, func(tx *store.Tx, r *person.Record, it store.Item) error {
			groups := slices.DeleteFunc(slices.Clone(r.Groups),
				func(g string) bool { return g == oldName || g == name })
			if slices.Contains(after, personID) {
				groups = append(groups, name)
			}
			slices.Sort(groups)
			if r.State == person.Removed || slices.Equal(groups, r.Groups) {
				return nil
			}
			r.Groups = groups
			// Without a group that gives a role, the default of the connection counts.
			role, _ := c.by.RoleOf(groups)
			s.people.Follow(tx, r, c.account, role)
			return s.people.Save(tx, r, it)
		})
		var f *failure
		if err != nil && (!errors.As(err, &f) || f.status != http.StatusNotFound) {
			return err
		}
	}
	return nil
}

func (s *SCIM) putGroup(c *call, groupID string) (answer, error) {
	var from sent
	if err := read(c, &from); err != nil {
		return answer{}, err
	}
	return s.changeGroup(c, groupID, func(g *group) error { return g.set(from) })
}

func (s *SCIM) patchGroup(c *call, groupID string) (answer, error) {
	var p patch
	if err := read(c, &p); err != nil {
		return answer{}, err
	}
	return s.changeGroup(c, groupID, func(g *group) error {
		return p.each(func(op, path string, value json.RawMessage) (err error) {
			path = strings.TrimPrefix(path, groupSchema+":")
			lower := strings.ToLower(path)
			switch {
			case lower == "displayname":
				name, err := scimText(value)
				if err != nil {
					return err
				}
				members := g.Members
				err = g.set(sent{DisplayName: name, ExternalID: g.ExternalID})
				g.Members = members
				return err
			case lower == "externalid":
				g.ExternalID, err = scimText(value)
				return err
			case lower == "members":
				return g.patchMembers(op, value)
			case strings.HasPrefix(lower, "members[") && op == "remove":
				f, err := parseFilter(strings.TrimSuffix(path[len("members["):], "]"), "value")
				if err == nil {
					g.Members = slices.DeleteFunc(g.Members, func(m string) bool { return m == f.value })
				}
				return err
			}
			return nil // such as the id, which Okta repeats
		})
	})
}

// patchMembers adds, replaces or removes members. A removal without a value removes all.
func (g *group) patchMembers(op string, value json.RawMessage) error {
	var members []member
	if len(value) > 0 && json.Unmarshal(value, &members) != nil {
		return invalid("invalidValue", "members must be a list of objects with a value.")
	}
	switch {
	case op == "remove" && members == nil:
		g.Members = []string{}
		return nil
	case op == "remove":
		gone := make(map[string]bool, len(members))
		for _, m := range members {
			gone[m.Value] = true
		}
		g.Members = slices.DeleteFunc(g.Members, func(m string) bool { return gone[m] })
		return nil
	case op == "replace":
		g.Members = []string{}
	}
	return g.add(members)
}

func (s *SCIM) deleteGroup(c *call, groupID string) (answer, error) {
	g, it, err := s.findGroup(c, groupID)
	if err != nil {
		return answer{}, err
	}
	if err := s.follow(c, g.DisplayName, g.DisplayName, g.Members, nil); err != nil {
		return answer{}, err
	}
	tx := &store.Tx{}
	tx.Expire(it.Key, s.now())
	return answer{http.StatusNoContent, nil}, s.db.Commit(c.Context(), tx)
}
