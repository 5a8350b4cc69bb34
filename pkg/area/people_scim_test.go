package area_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// scimWorld is an account with a directory, whose domain is acme.example.
type scimWorld struct {
	*servicetest.World
	people      *person.Service
	connections *connection.Service
	handler     http.Handler
	account     tenant.Account
	connection  connection.Connection
	token       string
	txt         []string
}

// SetProvider implements connection.Pool.
func (w *scimWorld) SetProvider(context.Context, string, connection.Provider) error { return nil }

// LookupTXT implements connection.Resolver.
func (w *scimWorld) LookupTXT(context.Context, string) ([]string, error) { return w.txt, nil }

func scimNewWorld(t *testing.T) *scimWorld {
	t.Helper()
	w := &scimWorld{World: servicetest.New(t)}
	a, err := account.NewService(w.DB, w.Now).Create(t.Context(), account.Settings{Name: new("Acme")})
	w.ok(err)
	w.account = tenant.Account(a.ID)
	w.people = person.NewService(w.DB, w.Now, rand.Reader)
	w.connections = connection.NewService(w.DB, w.Now, rand.Reader, w, w)
	c, err := w.connections.Create(t.Context(), w.account, connection.Settings{Name: new("Directory"),
		GroupRoles: map[string]auth.Role{"Admins": auth.Admin, "Audit": auth.Auditor}})
	w.ok(err)
	_, err = w.connections.SetProvider(t.Context(), w.account, c.ID, connection.Provider{Kind: connection.SAML,
		MetadataURL: "https://idp.example/metadata"})
	w.ok(err)
	c, err = w.connections.AddDomain(t.Context(), w.account, c.ID, "acme.example")
	w.ok(err)
	w.txt = []string{c.Domains[0].Record}
	w.connection, err = w.connections.VerifyDomain(t.Context(), w.account, c.ID, "acme.example")
	w.ok(err)
	w.token, err = w.connections.OpenDirectory(t.Context(), w.account, c.ID)
	w.ok(err)
	w.handler = people.NewSCIM(w.DB, w.people, w.connections, w.Log, w.Now).With(http.NotFoundHandler())
	return w
}

func (w *scimWorld) ok(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// call makes a call of the directory.
func (w *scimWorld) call(token, method, path string, body []byte) (int, map[string]any) {
	w.T.Helper()
	req := httptest.NewRequest(method, people.SCIMPath+path, bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/scim+json")
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{RequestID: "req-1",
		BaseURL: "https://api.example.com"})))
	var answer map[string]any
	if out.Body.Len() > 0 {
		if err := json.Unmarshal(out.Body.Bytes(), &answer); err != nil {
			w.T.Fatalf("%s %s: %s", method, path, out.Body)
		}
	}
	return out.Code, answer
}

// admit signs in by the connection.
func (w *scimWorld) admit(email string) admission.Person {
	w.T.Helper()
	a, err := admission.NewService(w.DB, w.people, w.Now).Admit(w.T.Context(), signin.Identity{Pool: "issuer",
		Subject: email, Email: email, Connection: w.connection.Provider()})
	w.ok(err)
	return a
}

// step is a call of a directory, as its documentation shows it.
type step struct {
	Name, Method, Path, Keep string
	Request, Response        json.RawMessage
	Status                   int
	Role                     auth.Role // of the user afterwards
}

func TestPublishedRequests(t *testing.T) {
	for _, directory := range []string{"okta", "entra"} {
		b, err := os.ReadFile("testdata/" + directory + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var steps []step
		if err := json.Unmarshal(b, &steps); err != nil {
			t.Fatal(err)
		}
		w, ids := scimNewWorld(t), []string{}
		var userID string
		for i, s := range steps {
			in := strings.NewReplacer(ids...)
			status, got := w.call(w.token, s.Method, in.Replace(s.Path), []byte(in.Replace(string(s.Request))))
			if s.Keep != "" {
				id, _ := got["id"].(string)
				ids = append(ids, "{"+s.Keep+"}", id)
			}
			if s.Keep == "user" {
				userID, _ = got["id"].(string)
				// The user signs in, so that each change of the role reaches a credential.
				if p := w.admit(fmt.Sprint(got["userName"])); p.ID != userID {
					t.Fatalf("%s: signed in as %+v", directory, p)
				}
			}
			var want any
			if len(s.Response) > 0 {
				w.ok(json.Unmarshal([]byte(strings.NewReplacer(ids...).Replace(string(s.Response))), &want))
			}
			if status != s.Status || !holds(got, want) {
				t.Errorf("%s: %s: %d %v, want %d %v", directory, s.Name, status, got, s.Status, want)
			}
			if s.Role != "" {
				r, _, err := w.people.Find(t.Context(), w.account, userID)
				w.ok(err)
				c, err := credential.Find(t.Context(), w.DB, r.Subjects[0].Hash)
				w.ok(err)
				if r.Role != s.Role || c.Role != string(s.Role) {
					t.Errorf("%s: %s: the role is %s, in the credential %s", directory, s.Name, r.Role, c.Role)
				}
			}
			if calls := w.Log.Calls(); len(calls) != i+1 || calls[i].Principal.Actor != (auth.Actor{
				Kind: auth.Directory, ID: w.connection.ID}) || calls[i].Status != status {
				t.Errorf("%s: %s is not in the audit log", directory, s.Name)
			}
		}
	}
}

// holds reports whether a value has everything that another one has.
func holds(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		m, ok := got.(map[string]any)
		for name, value := range want {
			ok = ok && holds(m[name], value)
		}
		return ok
	case []any:
		l, ok := got.([]any)
		ok = ok && len(l) == len(want)
		for i := range want {
			ok = ok && holds(l[i], want[i])
		}
		return ok
	case nil:
		return true
	}
	return got == want
}

func TestADisabledUserIsOutOnTheNextCall(t *testing.T) {
	w := scimNewWorld(t)
	_, u := w.call(w.token, "POST", "/Users", []byte(`{"userName":"ada@acme.example"}`))
	w.admit("ada@acme.example")
	id := fmt.Sprint(u["id"])
	disable := []byte(`{"Operations":[{"op":"replace","value":{"active":false}}]}`)
	if status, _ := w.call(w.token, "PATCH", "/Users/"+id, disable); status != 200 {
		t.Fatal(status)
	}
	c, err := credential.Find(t.Context(), w.DB, auth.Subject("issuer", "ada@acme.example"))
	if err != nil || !c.Ended(w.Now()) {
		t.Errorf("%+v, %v", c, err)
	}
	enable := []byte(`{"Operations":[{"op":"replace","value":{"active":true}}]}`)
	if status, _ := w.call(w.token, "PATCH", "/Users/"+id, enable); status != 200 {
		t.Fatal(status)
	}
	if a := w.admit("ada@acme.example"); a.ID != id || a.State != person.Active {
		t.Errorf("%+v", a)
	}
}

func TestTheLastOwnerOfADirectory(t *testing.T) {
	w := scimNewWorld(t)
	tx := &store.Tx{}
	_, _, err := w.people.Invite(tx, person.New{Account: w.account, Email: "owner@acme.example", Role: auth.Owner,
		By: "operator"})
	w.ok(err)
	w.ok(w.DB.Commit(t.Context(), tx))
	owner := w.admit("owner@acme.example")
	if status, _ := w.call(w.token, "DELETE", "/Users/"+owner.ID, nil); status != http.StatusConflict {
		t.Errorf("the last owner was deleted: %d", status)
	}
	body := []byte(`{"displayName":"Audit","members":[{"value":"` + owner.ID + `"}]}`)
	if status, _ := w.call(w.token, "POST", "/Groups", body); status != http.StatusCreated {
		t.Error(status)
	}
	if a := w.admit("owner@acme.example"); a.Role != auth.Owner {
		t.Errorf("a group made the owner %s", a.Role)
	}
}

func TestRefusedCalls(t *testing.T) {
	w := scimNewWorld(t)
	tx := &store.Tx{}
	guest, _, err := w.people.Invite(tx, person.New{Account: w.account, Email: "guest@elsewhere.example",
		Role: auth.Admin, By: "operator"})
	w.ok(err)
	w.ok(w.DB.Commit(t.Context(), tx))
	before := storetest.Snapshot(t, w.DB)
	const patch = `{"Operations":[{"op":"replace","path":"active","value":"maybe"}]}`
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		kind                      string
	}{
		{"x", "GET", "/Users", "", 401, ""},
		{"", "GET", "/Users", "", 401, ""},
		{"svc_live_x", "GET", "/ServiceProviderConfig", "", 401, ""},
		{w.token, "POST", "/Users", `{"userName":"ada@elsewhere.example"}`, 400, "invalidValue"},
		{w.token, "POST", "/Users", `{"userName":"ada"}`, 400, "invalidValue"},
		{w.token, "POST", "/Users", `{"userName":"ada@acme.example","active":"maybe"}`, 400, "invalidValue"},
		{w.token, "POST", "/Users", `{`, 400, "invalidSyntax"},
		{w.token, "POST", "/Users", strings.Repeat(" ", 2<<20), 413, ""},
		// People of other domains are none of the directory's business.
		{w.token, "GET", "/Users/" + guest.ID, "", 404, ""},
		{w.token, "DELETE", "/Users/" + guest.ID, "", 404, ""},
		{w.token, "PATCH", "/Users/" + guest.ID, patch, 400, "invalidValue"},
		{w.token, "GET", "/Users/usr_01h455vb4pex5vsknk084sn02q", "", 404, ""},
		{w.token, "GET", "/Users?filter=userName%20sw%20%22a%22", "", 400, "invalidFilter"},
		{w.token, "GET", "/Users?filter=password%20eq%20%22a%22", "", 400, "invalidFilter"},
		{w.token, "PUT", "/Users", "{}", 405, ""},
		{w.token, "GET", "/Nothing", "", 404, ""},
		{w.token, "POST", "/Groups", `{"displayName":" "}`, 400, "invalidValue"},
		{w.token, "POST", "/Groups", `{"displayName":"x","members":[{"value":"x"}]}`, 400, "invalidValue"},
		{w.token, "PATCH", "/Groups/x", `{"Operations":[{"op":"test"}]}`, 404, ""},
	} {
		status, got := w.call(c.token, c.method, c.path, []byte(c.body))
		kind, _ := got["scimType"].(string)
		if status != c.status || kind != c.kind || got["status"] != fmt.Sprint(c.status) {
			t.Errorf("%s %s %.60s: %d %v, want %d %s", c.method, c.path, c.body, status, got, c.status, c.kind)
		}
	}
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("a refused call has changed something")
	}
	_, err = w.connections.OpenDirectory(t.Context(), w.account, w.connection.ID)
	w.ok(err)
	if status, _ := w.call(w.token, "GET", "/Users", nil); status != 401 {
		t.Errorf("the earlier token: %d", status)
	}
}

func TestPages(t *testing.T) {
	w := scimNewWorld(t)
	for i := range 5 {
		w.call(w.token, "POST", "/Users", fmt.Appendf(nil, `{"userName":"u%d@acme.example"}`, i))
	}
	for query, want := range map[string][3]float64{"": {5, 1, 5}, "?startIndex=2&count=2": {5, 2, 2},
		"?startIndex=9": {5, 9, 0}, "?count=0": {5, 1, 0}, "?startIndex=-1&count=x": {5, 1, 5}} {
		_, got := w.call(w.token, "GET", "/Users"+query, nil)
		if [3]float64{got["totalResults"].(float64), got["startIndex"].(float64),
			got["itemsPerPage"].(float64)} != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

// A group that an admin has mapped, or somebody whom nobody knows, makes no owner.
func TestADirectoryMakesOwnersOnlyAsAnOwnerSays(t *testing.T) {
	w := scimNewWorld(t)
	_, u := w.call(w.token, "POST", "/Users", []byte(`{"userName":"boss@acme.example"}`))
	_, g := w.call(w.token, "POST", "/Groups", fmt.Appendf(nil, `{"displayName":"x","members":[{"value":"%s"}]}`, u["id"]))
	for _, x := range []struct{ by, want auth.Role }{{auth.Admin, auth.Admin}, {auth.Owner, auth.Owner}} {
		by := authority.OfPerson("usr_1", x.by)
		_, err := w.connections.Update(t.Context(), w.account, w.connection.ID, connection.Settings{By: by,
			GroupRoles: map[string]auth.Role{"x": auth.Owner}})
		if (err == nil) != (x.by == auth.Owner) {
			t.Errorf("an %s maps a group to owner: %v", x.by, err)
		}
		for _, members := range []string{`[]`, fmt.Sprintf(`[{"value":"%s"}]`, u["id"])} {
			w.call(w.token, "PUT", fmt.Sprint("/Groups/", g["id"]), []byte(`{"displayName":"x","members":`+members+`}`))
		}
		r, _, err := w.people.Find(t.Context(), w.account, fmt.Sprint(u["id"]))
		w.ok(err)
		if (r.Role == auth.Owner) != (x.want == auth.Owner) {
			t.Errorf("the group of an %s makes an %s", x.by, r.Role)
		}
	}
}

// An open invitation of another account gives way to the directory. One of the account itself does not.
func TestADirectoryAndInvitations(t *testing.T) {
	w := scimNewWorld(t)
	invite := func(account tenant.Account, email string) person.Record {
		t.Helper()
		tx := &store.Tx{}
		r, _, err := w.people.Invite(tx, person.New{Account: account, Email: email, Role: auth.Admin, By: "operator"})
		w.ok(err)
		w.ok(w.DB.Commit(t.Context(), tx))
		return r
	}
	invite("acc_other", "newhire@acme.example")
	status, u := w.call(w.token, "POST", "/Users", []byte(`{"userName":"newhire@acme.example"}`))
	if status != http.StatusCreated {
		t.Fatalf("%d: %v", status, u)
	}
	if a := w.admit("newhire@acme.example"); a.ID != u["id"] || a.Account != w.account || a.Role != auth.Developer {
		t.Errorf("%+v", a)
	}
	_, u = w.call(w.token, "POST", "/Users", []byte(`{"userName":"back@acme.example"}`))
	one := fmt.Sprint("/Users/", u["id"])
	disable := []byte(`{"Operations":[{"op":"replace","value":{"active":false}}]}`)
	if status, _ := w.call(w.token, "PATCH", one, disable); status != http.StatusOK {
		t.Fatal(status)
	}
	again := invite(w.account, "back@acme.example")
	enable := []byte(`{"Operations":[{"op":"replace","value":{"active":true}}]}`)
	if status, _ := w.call(w.token, "PATCH", one, enable); status != http.StatusConflict {
		t.Errorf("two people of an account have an address: %d", status)
	}
	if a := w.admit("back@acme.example"); a.ID != again.ID {
		t.Errorf("%+v", a)
	}
}

// groupOf makes a user and a group, which it is in, and returns their paths and the id of the user.
func (w *scimWorld) groupOf(name string) (user, group, id string) {
	w.T.Helper()
	_, u := w.call(w.token, "POST", "/Users", []byte(`{"userName":"ada@acme.example","externalId":"aB"}`))
	id = fmt.Sprint(u["id"])
	_, g := w.call(w.token, "POST", "/Groups", fmt.Appendf(nil, `{"displayName":"%s","members":[{"value":"%s"}]}`, name,
		id))
	return "/Users/" + id, fmt.Sprint("/Groups/", g["id"]), id
}

// patch makes a PATCH of one operation, and returns its status and its scimType.
func (w *scimWorld) patch(path, operation string) (int, string) {
	w.T.Helper()
	status, got := w.call(w.token, "PATCH", path, []byte(`{"Operations":[`+operation+`]}`))
	kind, _ := got["scimType"].(string)
	return status, kind
}

// What changes while a person is disabled counts once the person is back.
func TestAPersonComesBackWithTheGroupsOfNow(t *testing.T) {
	w := scimNewWorld(t)
	user, group, id := w.groupOf("Admins")
	for _, x := range []struct {
		op   string
		want auth.Role
	}{{"remove", auth.Developer}, {"add", auth.Admin}} {
		w.admit("ada@acme.example")
		w.patch(user, `{"op":"replace","path":"active","value":false}`)
		w.patch(group, `{"op":"`+x.op+`","path":"members","value":[{"value":"`+id+`"}]}`)
		if status, _ := w.patch(user, `{"op":"replace","path":"active","value":true}`); status != http.StatusOK {
			t.Fatal(status)
		}
		if a := w.admit("ada@acme.example"); a.Role != x.want {
			t.Errorf("%s: the person is back as %s, want %s", x.op, a.Role, x.want)
		}
	}
}

// An owner whom another owner has removed is no owner by the word of the directory alone.
func TestARemovedOwnerComesBackAsAnother(t *testing.T) {
	w := scimNewWorld(t)
	for _, email := range []string{"one@acme.example", "two@acme.example"} {
		tx := &store.Tx{}
		_, _, err := w.people.Invite(tx, person.New{Account: w.account, Email: email, Role: auth.Owner, By: "operator"})
		w.ok(err)
		w.ok(w.DB.Commit(t.Context(), tx))
	}
	w.admit("one@acme.example")
	two := w.admit("two@acme.example")
	_, err := w.people.Change(t.Context(), w.account, two.ID, w.people.Remove)
	w.ok(err)
	if status, _ := w.patch("/Users/"+two.ID, `{"op":"replace","path":"active","value":true}`); status != http.StatusOK {
		t.Fatal(status)
	}
	if a := w.admit("two@acme.example"); a.Role != auth.Developer {
		t.Errorf("the owner is back as %s", a.Role)
	}
}

// Two groups of one name would take each other's roles.
func TestNamesOfGroupsAreUnique(t *testing.T) {
	w := scimNewWorld(t)
	_, group, id := w.groupOf("Admins")
	_, other := w.call(w.token, "POST", "/Groups", []byte(`{"displayName":"Audit"}`))
	at := fmt.Sprint("/Groups/", other["id"])
	if status, kind := w.patch(at, `{"op":"replace","path":"displayName","value":"admins"}`); status != 409 ||
		kind != "uniqueness" {
		t.Errorf("PATCH: %d %s", status, kind)
	}
	if status, _ := w.call(w.token, "PUT", at, []byte(`{"displayName":"Admins"}`)); status != 409 {
		t.Errorf("PUT: %d", status)
	}
	if status, _ := w.patch(group, `{"op":"replace","path":"displayName","value":"ADMINS"}`); status != 200 {
		t.Errorf("its own name: %d", status)
	}
	if r, _, err := w.people.Find(t.Context(), w.account, id); err != nil || len(r.Groups) != 1 {
		t.Errorf("%v, %v", r.Groups, err)
	}
	// A name is free again once its group is renamed or deleted.
	if status, kind := w.patch(at, `{"op":"replace","path":"displayName","value":"Legal"}`); status != 200 {
		t.Errorf("another name: %d %s", status, kind)
	}
	if status, _ := w.call(w.token, "DELETE", group, nil); status != 204 {
		t.Errorf("DELETE: %d", status)
	}
	for name, want := range map[string]int{"Audit": 201, "Admins": 201, "LEGAL": 409} {
		if status, _ := w.call(w.token, "POST", "/Groups", []byte(`{"displayName":"`+name+`"}`)); status != want {
			t.Errorf("POST %s: %d", name, status)
		}
	}
}

// Another call makes a group after a call has found its name to be free.
func TestOneOfTwoGroupsAtOnceGetsTheName(t *testing.T) {
	for _, first := range []string{"POST", "PUT", "PATCH"} {
		w := scimNewWorld(t)
		_, g := w.call(w.token, "POST", "/Groups", []byte(`{"displayName":"Team"}`))
		path, body := fmt.Sprint("/Groups/", g["id"]), `{"displayName":"Admins"}`
		switch first {
		case "POST":
			path = "/Groups"
		case "PATCH":
			body = `{"Operations":[{"op":"replace","path":"displayName","value":"Admins"}]}`
		}
		made := 0
		for _, write := range []string{"PutItem", "TransactWriteItems"} {
			w.Faults.Before(write, func() {
				if made == 0 {
					made, _ = w.call(w.token, "POST", "/Groups", []byte(`{"displayName":"admins"}`))
				}
			})
		}
		status, _ := w.call(w.token, first, path, []byte(body))
		if made != 201 || status != 409 {
			t.Errorf("%s: %d, and a group at the same moment %d", first, status, made)
		}
	}
}

// role returns the role and the groups of a person.
func (w *scimWorld) role(id string) string {
	w.T.Helper()
	r, _, err := w.people.Find(w.T.Context(), w.account, id)
	w.ok(err)
	return fmt.Sprint(r.Role, " ", r.Groups)
}

// A call that ends between the write of a group and that of its people is finished by its repetition.
func TestAnInterruptedChangeOfAGroupIsFinished(t *testing.T) {
	w := scimNewWorld(t)
	_, group, id := w.groupOf("Admins")
	body := func(name string, members ...string) []byte {
		b, err := json.Marshal(map[string]any{"displayName": name, "members": append([]string{}, members...)})
		w.ok(err)
		for _, m := range members {
			b = bytes.ReplaceAll(b, []byte(`"`+m+`"`), []byte(`{"value":"`+m+`"}`))
		}
		return b
	}
	for _, c := range []struct {
		method, path string
		body         []byte
		want         string
		again        int
	}{
		{"PUT", group, body("Admins"), "developer []", 200},
		{"PUT", group, body("Admins", id), "admin [Admins]", 200},
		{"DELETE", group, nil, "developer []", 204},
		{"POST", "/Groups", body("Audit", id), "auditor [Audit]", 409},
	} {
		// The first write is of the group and its name, and the next one of the person.
		w.Faults.After = func(call storetest.Call) error {
			if call.Operation == "TransactWriteItems" || call.Operation == "PutItem" {
				w.Faults.Reject("TransactWriteItems", "ValidationException", 1)
				w.Faults.After = nil
			}
			return nil
		}
		if status, got := w.call(w.token, c.method, c.path, c.body); status != 500 {
			t.Errorf("%s %s: %d %v", c.method, c.path, status, got)
		}
		if status, _ := w.call(w.token, c.method, c.path, c.body); status != c.again {
			t.Errorf("%s %s again: %d", c.method, c.path, status)
		}
		if got := w.role(id); got != c.want {
			t.Errorf("%s %s: the person is %s, want %s", c.method, c.path, got, c.want)
		}
	}
}

// A call that adds a member writes the person after another call has removed the member again.
func TestALateCallGivesNoRole(t *testing.T) {
	w := scimNewWorld(t)
	_, group, id := w.groupOf("Admins")
	member := `,"path":"members","value":[{"value":"` + id + `"}]}`
	w.patch(group, `{"op":"remove"`+member)
	w.Faults.Before("TransactWriteItems", func() { w.patch(group, `{"op":"remove"`+member) })
	if status, _ := w.patch(group, `{"op":"add"`+member); status != 200 {
		t.Errorf("%d", status)
	}
	if got := w.role(id); got != "developer []" {
		t.Errorf("the person is %s", got)
	}
}

// The deletion of the last owner is refused, and changes no group.
func TestTheLastOwnerStaysInTheGroups(t *testing.T) {
	w := scimNewWorld(t)
	tx := &store.Tx{}
	_, _, err := w.people.Invite(tx, person.New{Account: w.account, Email: "one@acme.example", Role: auth.Owner,
		By: "operator"})
	w.ok(err)
	w.ok(w.DB.Commit(t.Context(), tx))
	one := w.admit("one@acme.example")
	_, group, _ := w.groupOf("Admins")
	w.patch(group, `{"op":"add","path":"members","value":[{"value":"`+one.ID+`"}]}`)
	if status, _ := w.call(w.token, "DELETE", "/Users/"+one.ID, nil); status != 409 {
		t.Errorf("%d", status)
	}
	if got := w.role(one.ID); got != "owner [Admins]" {
		t.Errorf("the owner is %s", got)
	}
}

// Forms of operations that directories send.
func TestFormsOfOperations(t *testing.T) {
	w := scimNewWorld(t)
	user, group, id := w.groupOf("Admins")
	one := `{"value":"` + id + `"}`
	for _, c := range []struct {
		path, operation string
		status          int
		kind, want      string // of the answer to a GET
	}{
		{group, `{"op":"replace","path":"members"}`, 400, "invalidValue", id},
		{group, `{"op":"replace","path":"externalId"}`, 400, "invalidValue", id},
		{group, `{"op":"replace","path":"members[value eq \"` + id + `\"]","value":[]}`, 400, "invalidPath", id},
		{group, `{"op":"Remove","path":"Members[Value EQ \"` + strings.ToUpper(id) + `\"]"}`, 200, "", `"members":[]`},
		{group, `{"op":"add","path":"members","value":` + one + `}`, 200, "", id},
		{group, `{"op":"remove","path":"members","value":[]}`, 200, "", id},
		{group, `{"op":"remove","path":"members","value":null}`, 200, "", `"members":[]`},
		{group, `{"op":"Add","value":{"members":[` + one + `]}}`, 200, "", id},
		{group, `{"op":"replace","path":"externalId","value":"` + strings.Repeat("x", 500_000) + `"}`, 200, "",
			`"externalId":"` + strings.Repeat("x", 256) + `"`},
		{group, `{"op":"replace","path":"URN:ietf:params:scim:schemas:core:2.0:group:displayName","value":"Heads"}`, 200, "",
			`"displayName":"Heads"`},
		{user, `{"op":"replace","path":"urn:ietf:params:scim:schemas:core:2.0:user:active","value":"False"}`, 200, "",
			`"active":false`},
		{user, `{"op":"Replace","path":"active"}`, 400, "invalidValue", `"active":false`},
		{user, `{"op":"replace","value":{"name":{"givenName":"Ada","familyName":"King"}}}`, 200, "", `"Ada King"`},
		{user, `{"op":"replace","path":"name","value":"Ada"}`, 400, "invalidValue", `"Ada King"`},
		{user, `{"op":"replace","path":"name","value":{"formatted":"Ada L."}}`, 200, "", `"Ada L."`},
	} {
		status, kind := w.patch(c.path, c.operation)
		_, got := w.call(w.token, "GET", c.path, nil)
		is, err := json.Marshal(got)
		w.ok(err)
		if status != c.status || kind != c.kind || !strings.Contains(string(is), c.want) {
			t.Errorf("%.100s: %d %s, then %.300s", c.operation, status, kind, is)
		}
	}
}

func TestFiltersOfDirectories(t *testing.T) {
	w := scimNewWorld(t)
	_, group, _ := w.groupOf("a eq b")
	w.patch(group, `{"op":"replace","path":"externalId","value":"gB"}`)
	for query, want := range map[string]float64{
		`Users?filter=emails[type eq "work"].value eq "ada@acme.example"`: 1,
		`Users?filter=EMAILS.value EQ "Ada@ACME.example"`:                 1,
		`Users?filter=externalId eq "aB"`:                                 1,
		`Users?filter=externalId eq "ab"`:                                 0,
		`Users?filter= userName eq  "ada@acme.example" `:                  1,
		`Groups?filter=displayName eq "A eq b"`:                           1,
		`Groups?filter=externalId eq "gB"`:                                1,
		`Groups?filter=externalId eq "gb"`:                                0,
	} {
		status, got := w.call(w.token, "GET", "/"+strings.ReplaceAll(query, " ", "%20"), nil)
		if status != 200 || got["totalResults"] != want {
			t.Errorf("%s: %d %v", query, status, got)
		}
	}
	for _, filter := range []string{`userNames eq "a"`, `userName`, `userName eq`, `userName eq a`, `userName eq "a`,
		`userNameeq "a"`, `userName eq "a" or id eq "b"`, `emails[type eq "work"] eq "a"`} {
		query := "/Users?filter=" + strings.ReplaceAll(filter, " ", "%20")
		if status, got := w.call(w.token, "GET", query, nil); status != 400 || got["scimType"] != "invalidFilter" {
			t.Errorf("%s: %d %v", filter, status, got)
		}
	}
}

// The displayName is the name, in whatever order a directory sends the attributes. Entra ID sends parts of the name by
// their own paths.
func TestNamesOfUsers(t *testing.T) {
	w := scimNewWorld(t)
	user, _, _ := w.groupOf("Admins")
	for _, x := range []struct{ operations, want string }{
		{`{"op":"replace","value":{"displayName":"A","name":{"formatted":"B"}}}`, "A"},
		{`{"op":"add","path":"name.givenName","value":"Ada"},{"op":"Replace","path":"name.familyName","value":"Byron"}`,
			"Ada Byron"},
		{`{"op":"replace","path":"name.familyName","value":"King"}`, "Ada Byron"},
		{`{"op":"remove","path":"displayName"}`, "Ada Byron"},
	} {
		for range 8 {
			w.patch(user, x.operations)
			if _, got := w.call(w.token, "GET", user, nil); got["displayName"] != x.want {
				t.Fatalf("%s: %v, want %s", x.operations, got["displayName"], x.want)
			}
		}
	}
}

// RFC 7644, sections 3.3, 3.6 and 4.
func TestADeletedUserIsGone(t *testing.T) {
	w := scimNewWorld(t)
	user, group, _ := w.groupOf("Admins")
	w.patch(user, `{"op":"replace","path":"active","value":false}`)
	for _, want := range []int{204, 404} {
		if status, _ := w.call(w.token, "DELETE", user, nil); status != want {
			t.Errorf("DELETE: %d, want %d", status, want)
		}
	}
	if status, _ := w.call(w.token, "GET", user, nil); status != 404 {
		t.Errorf("GET: %d", status)
	}
	if _, got := w.call(w.token, "GET", "/Users", nil); got["totalResults"] != 0.0 {
		t.Errorf("%v", got)
	}
	if _, got := w.call(w.token, "GET", group, nil); len(got["members"].([]any)) != 0 {
		t.Errorf("the group has %v", got["members"])
	}
	if status, _ := w.call(w.token, "POST", "/Users", []byte(`{"userName":"ada@acme.example"}`)); status != 201 {
		t.Errorf("made again: %d", status)
	}
}

func TestTheServiceDescribesItself(t *testing.T) {
	w := scimNewWorld(t)
	const urn = "urn:ietf:params:scim:schemas:core:2.0:"
	for path, want := range map[string]int{"ServiceProviderConfig": 200, "ResourceTypes": 200, "ResourceTypes/User": 200,
		"Schemas": 200, "Schemas/" + urn + "User": 200, "Schemas/" + urn + "Group": 200, "Schemas/" + urn + "Car": 404,
		"ResourceTypes/Car": 404, "ServiceProviderConfig/x": 404} {
		if status, got := w.call(w.token, "GET", "/"+path, nil); status != want {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	_, got := w.call(w.token, "GET", "/ServiceProviderConfig", nil)
	if filter, ok := got["filter"].(map[string]any); !ok || filter["maxResults"] != 200.0 {
		t.Errorf("%v", got)
	}
	for kind, first := range map[string]string{"Schemas": urn + "User", "ResourceTypes": "User"} {
		_, got := w.call(w.token, "GET", "/"+kind, nil)
		all, _ := got["Resources"].([]any)
		if len(all) != 2 || got["totalResults"] != 2.0 || all[0].(map[string]any)["id"] != first {
			t.Errorf("%s: %v", kind, got)
		}
	}
	_, got = w.call(w.token, "GET", "/Schemas/"+urn+"User", nil)
	first, ok := got["attributes"].([]any)[0].(map[string]any)
	if !ok || first["name"] != "userName" || first["uniqueness"] != "server" || first["returned"] != "default" {
		t.Errorf("%v", got)
	}
	req := httptest.NewRequest("POST", people.SCIMPath+"/Users", strings.NewReader(`{"userName":"ada@acme.example"}`))
	req.Header.Set("Authorization", "Bearer "+w.token)
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{
		BaseURL: "https://api.example.com"})))
	if at := out.Header().Get("Location"); !strings.HasPrefix(at, "https://api.example.com/scim/v2/Users/usr_") {
		t.Errorf("the location is %q", at)
	}
}

// A megabyte of members, each of whom was compared with all others.
func TestWorstCaseDirectoryCalls(t *testing.T) {
	w := scimNewWorld(t)
	var different strings.Builder
	now := w.Now()
	for different.Len() < 1_000_000 {
		fmt.Fprintf(&different, `{"value":"%s"},`, id.New(id.Person, now))
	}
	removals := strings.Repeat(`{"op":"remove","path":"members[value eq \"a\"]"},`, 99)
	_, g := w.call(w.token, "POST", "/Groups", []byte(`{"displayName":"x"}`))
	path := fmt.Sprint("/Groups/", g["id"])
	for name, c := range map[string][3]string{
		"different members": {"POST", "/Groups", `{"displayName":"y","members":[` + different.String() + `{}]}`},
		"added members": {"PATCH", path, `{"Operations":[{"op":"add","path":"members","value":[` + different.String() +
			`{}]}]}`},
		"removed members": {"PATCH", path, `{"Operations":[{"op":"remove","path":"members","value":[` +
			different.String() + `{"value":"a"}]}]}`},
		"empty members": {"POST", "/Groups", `{"displayName":"y","members":[` + strings.Repeat(`{},`, 340_000) + `{}]}`},
		"operations":    {"PATCH", path, `{"Operations":[` + removals + `{"op":"remove","path":"members"}]}`},
		"paths":         {"PATCH", path, `{"Operations":[{"op":"add","value":{` + strings.Repeat(`"members[a":0,`, 70_000) + `"a":0}}]}`},
		"depth":         {"POST", "/Groups", strings.Repeat(`{"members":`, 90_000)},
	} {
		if len(c[2]) > 1<<20 {
			t.Fatalf("%s has %d bytes", name, len(c[2]))
		}
		cost.AtMost(t, name, func() { w.call(w.token, c[0], c[1], []byte(c[2])) })
	}
}
