package main

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/record/connection"
)

func TestTheFirstOwner(t *testing.T) {
	o := newOperator(t)
	var a account.Account
	o.run(&a, "account", "create", "--name", "Acme")
	var p people.Invited
	o.run(&p, "person", "invite", a.ID, "--email", "Ada@example.com", "--url", "https://api.example.com")
	if p.Role != "owner" || p.Email != "ada@example.com" || *p.InvitedBy != "operator" ||
		!strings.HasPrefix(p.InvitationURL, "https://api.example.com/auth/invitations#") {
		t.Errorf("%+v", p)
	}
	if out := o.run(nil, "person", "list", a.ID); !strings.Contains(out, p.ID) || !strings.Contains(out, "invited") {
		t.Error(out)
	}
	for _, args := range [][]string{
		{"person", "invite", a.ID, "--email", "ada"},
		{"person", "invite", a.ID, "--email", "ada@example.com"},
		{"person", "invite", a.ID, "--email", "b@example.com", "--role", "root"},
		{"person", "invite", "acc_01h455vb4pex5vsknk084sn02q", "--email", "b@example.com"},
		{"person", "break-glass", a.ID, p.ID},
		{"connection", "create", "acc_01h455vb4pex5vsknk084sn02q", "--name", "Okta"},
		{"connection", "create", a.ID, "--name", "Okta", "--default-role", "owner"},
	} {
		if out, err := o.try(args...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
	var c connection.Connection
	o.run(&c, "connection", "create", a.ID, "--name", "Okta")
	o.run(&c, "connection", "add-domain", a.ID, c.ID, "acme.example")
	if len(c.Domains) != 1 || c.Domains[0].Record == "" || c.DefaultRole != "developer" {
		t.Errorf("%+v", c)
	}
	o.run(&c, "connection", "update", a.ID, c.ID, "--group", "Social team=developer", "--group", "CN=IT, O=Acme = admin")
	if len(c.GroupRoles) != 2 || c.GroupRoles["CN=IT, O=Acme"] != "admin" || c.DefaultRole != "developer" ||
		c.Name != "Okta" {
		t.Errorf("%+v", c)
	}
	if out, err := o.try("connection", "update", a.ID, c.ID, "--group", "Social team=root"); err == nil {
		t.Error(out)
	}
	c.GroupRoles = nil
	o.run(&c, "connection", "update", a.ID, c.ID, "--group", "", "--name", "Okta 2", "--default-role", "auditor")
	if len(c.GroupRoles) != 0 || c.DefaultRole != "auditor" || c.Name != "Okta 2" {
		t.Errorf("%+v", c)
	}
	if _, err := o.try("connection", "enforce", a.ID, c.ID); err == nil {
		t.Error("enforced without a provider")
	}
	if _, err := o.try("connection", "confirm", a.ID, c.ID); err == nil {
		t.Error("confirmed without a provider")
	}
	var link struct{ Path string }
	o.run(&link, "connection", "setup-link", a.ID, c.ID)
	if !strings.HasPrefix(link.Path, "/setup#") {
		t.Errorf("%+v", link)
	}
	var removed people.Person
	o.run(&removed, "person", "remove", a.ID, p.ID)
	if removed.State != "removed" {
		t.Errorf("%+v", removed)
	}
}
