package people

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// user is a user as a directory sends it. Other attributes are not kept.
type user struct {
	ExternalID  string `json:"externalId"`
	UserName    string `json:"userName"`
	DisplayName string `json:"displayName"`
	Name        struct {
		Formatted  string `json:"formatted"`
		GivenName  string `json:"givenName"`
		FamilyName string `json:"familyName"`
	} `json:"name"`
	Active json.RawMessage `json:"active"`
}

// name returns the name of a user.
func (u *user) name() string {
	for _, s := range []string{u.DisplayName, u.Name.Formatted, u.Name.GivenName + " " + u.Name.FamilyName} {
		if s = person.CleanName(s); s != "" {
			return s
		}
	}
	return ""
}

// active reports whether a user has access. Without the attribute it has.
func (u *user) active() (bool, error) {
	if len(u.Active) == 0 {
		return true, nil
	}
	return truth(u.Active)
}

// meta is the metadata of a resource.
type meta struct {
	ResourceType string        `json:"resourceType"`
	Created      resource.Time `json:"created"`
	LastModified resource.Time `json:"lastModified"`
	Location     string        `json:"location"`
}

// render returns a person as a user.
func (c *call) render(r *person.Record) map[string]any {
	u := map[string]any{
		"schemas": []string{userSchema}, "id": r.ID, "userName": r.Email, "displayName": r.Name,
		"name": map[string]string{"formatted": r.Name}, "active": r.State != person.Removed,
		"emails": []any{map[string]any{"value": r.Email, "type": "work", "primary": true}},
		"meta":   meta{"User", r.CreatedAt, r.UpdatedAt, c.base + "/Users/" + r.ID},
	}
	if r.ExternalID != "" {
		u["externalId"] = r.ExternalID
	}
	return u
}

// find reads a person whom the directory may see: with an address of a domain that its connection has verified.
func (s *SCIM) find(c *call, id string) (person.Record, error) {
	r, _, err := s.people.Find(c.Context(), c.account, id)
	if errs.CodeOf(err) == errs.NotFound || err == nil && !c.sees(&r) {
		return r, missing("user")
	}
	return r, err
}

func (c *call) sees(r *person.Record) bool { return c.by.Speaks(person.Domain(r.Email)) }

func (s *SCIM) listUsers(c *call, _ string) (answer, error) {
	f, err := parseFilter(c.URL.Query().Get("filter"), "userName", "externalId", "id", "emails.value", "emails",
		`emails[type eq "work"].value`)
	if err != nil {
		return answer{}, err
	}
	found := []any{}
	err = s.people.Each(c.Context(), c.account, func(r person.Record, _ store.Item) error {
		value := r.Email
		switch f.attribute {
		case "externalid":
			value = r.ExternalID
		case "id":
			value = r.ID
		}
		// A removed person is left out if another person has the address now.
		if c.sees(&r) && (f.attribute == "" || strings.EqualFold(value, f.value)) && !s.replaced(c, &r) {
			found = append(found, c.render(&r))
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return page(c, found)
}

// replaced reports whether another person has the address of a removed one now.
func (s *SCIM) replaced(c *call, r *person.Record) bool {
	if r.State != person.Removed {
		return false
	}
	_, _, err := s.people.ByEmail(c.Context(), r.Email)
	return err == nil
}

func (s *SCIM) getUser(c *call, id string) (answer, error) {
	r, err := s.find(c, id)
	return answer{http.StatusOK, c.render(&r)}, err
}

func (s *SCIM) createUser(c *call, _ string) (answer, error) {
	var u user
	if err := read(c, &u); err != nil {
		return answer{}, err
	}
	email, err := person.Address(u.UserName, "/userName")
	if err != nil || !c.by.Speaks(person.Domain(email)) {
		return answer{}, invalid("invalidValue", "userName must be an e-mail address of a domain that the connection "+
			"has verified.")
	}
	active, err := u.active()
	if err != nil {
		return answer{}, err
	}
	at, err := s.db.GetAll(c.Context(), store.IDKey(person.Emails(email)))
	if err != nil {
		return answer{}, err
	}
	holder, err := s.people.HolderOf(c.Context(), at[0])
	switch {
	case err != nil:
		return answer{}, err
	case holder.Taken() || at[0].Kind != "" && at[0].Account == c.account:
		return answer{}, person.ErrDuplicate
	}
	role, _ := c.by.RoleOf(nil)
	tx := &store.Tx{}
	r, err := s.people.Provision(tx, person.New{Account: c.account, Email: email, Name: u.name(), Role: role,
		Connection: c.by.ID, ExternalID: text.ClipText(u.ExternalID, maxExternalID), Holder: holder})
	if err == nil {
		err = s.db.Commit(c.Context(), tx)
	}
	if err == nil && !active {
		r, err = s.change(c, r.ID, func(tx *store.Tx, r *person.Record, it store.Item) error {
			return s.people.Remove(tx, r, it)
		})
	}
	return answer{http.StatusCreated, c.render(&r)}, err
}

// maxExternalID bounds an id that the directory has chosen, in bytes.
const maxExternalID = 256

// change changes a person whom the directory may see.
func (s *SCIM) change(c *call, id string, edit func(*store.Tx, *person.Record, store.Item) error) (person.Record,
	error) {
	if _, err := s.find(c, id); err != nil {
		return person.Record{}, err
	}
	return s.people.Change(c.Context(), c.account, id, edit)
}

// apply changes a person to the given attributes. Those that are nil stay.
func (s *SCIM) apply(c *call, id string, name, externalID *string, active *bool) (answer, error) {
	r, err := s.change(c, id, func(tx *store.Tx, r *person.Record, it store.Item) error {
		before, external := r.Name, r.ExternalID
		if name != nil && *name != "" {
			r.Name = *name
		}
		if externalID != nil {
			r.ExternalID = text.ClipText(*externalID, maxExternalID)
		}
		switch {
		case active != nil && !*active && r.State != person.Removed:
			return s.people.Remove(tx, r, it)
		case active != nil && *active && r.State == person.Removed:
			return s.people.Expect(c.Context(), tx, r, it, c.by.ID)
		case r.Name == before && r.ExternalID == external:
			return nil
		}
		return s.people.Save(tx, r, it)
	})
	return answer{http.StatusOK, c.render(&r)}, err
}

// sameName refuses another userName: the address names the person.
func (s *SCIM) sameName(c *call, id, userName string) error {
	r, err := s.find(c, id)
	if err == nil && userName != "" && !strings.EqualFold(userName, r.Email) {
		return invalid("mutability", "userName cannot change. Create another user.")
	}
	return err
}

func (s *SCIM) putUser(c *call, id string) (answer, error) {
	var u user
	if err := read(c, &u); err != nil {
		return answer{}, err
	}
	active, err := u.active()
	if err == nil {
		err = s.sameName(c, id, u.UserName)
	}
	if err != nil {
		return answer{}, err
	}
	name := u.name()
	return s.apply(c, id, &name, &u.ExternalID, &active)
}

func (s *SCIM) patchUser(c *call, id string) (answer, error) {
	var p patch
	if err := read(c, &p); err != nil {
		return answer{}, err
	}
	var name, externalID *string
	var active *bool
	err := p.each(func(op, path string, value json.RawMessage) (err error) {
		var given string
		switch strings.ToLower(strings.TrimPrefix(path, userSchema+":")) {
		case "active":
			on := false // a removed attribute takes the access
			if op != "remove" {
				on, err = truth(value)
			}
			active = &on
		case "displayname", "name.formatted":
			given, err = scimText(value)
			given = person.CleanName(given)
			name = &given
		case "externalid":
			given, err = scimText(value)
			externalID = &given
		case "username":
			if given, err = scimText(value); err == nil {
				err = s.sameName(c, id, given)
			}
		}
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return s.apply(c, id, name, externalID, active)
}

func (s *SCIM) deleteUser(c *call, id string) (answer, error) {
	_, err := s.change(c, id, func(tx *store.Tx, r *person.Record, it store.Item) error {
		return s.people.Remove(tx, r, it)
	})
	return answer{http.StatusNoContent, nil}, err
}
