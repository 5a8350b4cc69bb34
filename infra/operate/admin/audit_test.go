package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/auditlog"
)

// unaudited opens an audit log that no test reads.
func unaudited(t *testing.T) func(context.Context, string) (auditLog, error) {
	return func(context.Context, string) (auditLog, error) {
		return auditLog{storetest.Open(t, time.Now), time.Now}, nil
	}
}

// entries returns the audit entries of a partition, oldest first.
func (o *operator) entries(partition string) (all []audit.Entry) {
	o.t.Helper()
	for _, row := range storetest.Rows(o.t, o.audit) {
		if row["pk"] != partition || row["kind"] != auditlog.EntryKind {
			continue
		}
		var e audit.Entry
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			o.t.Fatal(err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b audit.Entry) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func TestChangesAreInTheAuditLogOfTheAccount(t *testing.T) {
	o := newOperator(t)
	var a account.Account
	o.run(&a, "account", "create", "--name", "Acme", "--operator", "ada")
	o.run(nil, "account", "top-up", a.ID, "--credits", "500", "--operator", "ada")
	o.run(nil, "account", "adjust", a.ID, "--credits", "-20", "--reason", "quarrelsome customer", "--operator", "ada")
	var k struct{ ID, Secret string }
	o.run(&k, "key", "create", a.ID, "--operator", "ada")
	o.run(nil, "key", "list", a.ID, "--operator", "ada")
	o.run(nil, "key", "revoke", a.ID, k.ID, "--operator", "grace")
	o.run(nil, "account", "list")
	if _, err := o.try("account", "update", a.ID, "--test-limit", "-1", "--operator", "grace"); err == nil {
		t.Error("the limit was taken")
	}
	var got []string
	for _, e := range o.entries(a.ID + "#live") {
		got = append(got, e.Actor.ID+": "+e.Path)
		if e.Actor.Kind != "operator" || string(e.OperationID) != strings.ReplaceAll(strings.Split(e.Path, " "+a.ID)[0], " ",
			".") || (e.ErrorCode != nil) != (e.OperationID == "admin.account.update") {
			t.Errorf("%+v", e)
		}
	}
	want := []string{
		"ada: admin account create", "ada: admin account top-up " + a.ID, "ada: admin account adjust " + a.ID,
		"ada: admin key create " + a.ID,
		"grace: admin key revoke " + a.ID + " " + k.ID, "grace: admin account update " + a.ID,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if table := storetest.Snapshot(t, o.audit); strings.Contains(table, k.Secret) ||
		strings.Contains(table, "quarrelsome") {
		t.Error("the log has the secret or the reason")
	}
	if _, err := o.try("account", "top-up", "acc_x", "--credits", "1", "--operator", "ada"); err == nil ||
		len(o.entries("system#live")) != 1 {
		t.Errorf("%v, %+v", err, o.entries("system#live"))
	}
}

func TestWithoutAnAuditLogNothingIsChanged(t *testing.T) {
	o := newOperator(t)
	o.auditFails = errors.New("no route to host")
	if _, err := o.try("account", "create", "--name", "Acme"); !errors.Is(err, o.auditFails) {
		t.Error(err)
	}
	if rows := storetest.Rows(t, o.db); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
}

// Every command that makes a change writes to the log: all except list and verify.
func TestCredentialsAndDeadLettersAreInTheAuditLog(t *testing.T) {
	o := newOperator(t)
	var out bytes.Buffer
	a := &auditing{operator: "ada", open: o.openAudit}
	cmd := group("admin", "")
	cmd.AddCommand(providersCommand(&out, func(context.Context, string, string) error { return nil }))
	a.record(cmd)
	cmd.SetIn(strings.NewReader(someCredentials))
	cmd.SetArgs([]string{"providers", "set"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := o.entries("system#live"); len(all) != 1 || all[0].OperationID != "admin.providers.set" ||
		strings.Contains(storetest.Snapshot(t, o.audit), "-7319") {
		t.Errorf("%+v", all)
	}
}

func TestDeadLettersOfTheCountAreReadFromTheStreamAgain(t *testing.T) {
	p := newPost(t)
	now := time.Now()
	counts := storetest.Open(t, time.Now)
	p.work.levels = account.NewCallCounter(counts)
	p.work.dead["levels"] = p.queue("levels", nil)
	entry := id.New(id.AuditEntry, now)
	letter := p.stream(map[string]string{"pk": "acc_1#live", "sk": entry, "kind": auditlog.EntryKind, "acc": "acc_1",
		"mode": "live", "doc": `{"at":"` + now.UTC().Format(time.RFC3339) + `","operation_id":"getMe","status":200}`})
	p.send(p.work.dead["levels"], letter(0, 0), nil)
	if out, err := p.run("redrive", "--queue", "levels"); err != nil || !strings.HasSuffix(out, "\n1 moved\n") {
		t.Errorf("printed %s, %v", out, err)
	}
	month, err := account.ReadLevels(t.Context(), counts, tenant.Of("acc_1", tenant.Live), now)
	if err != nil || len(month.Operations) != 1 || month.Operations[0].Calls != 1 {
		t.Errorf("%+v, %v", month, err)
	}
}
