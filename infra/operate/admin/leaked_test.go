package main

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

func TestLeakedKeysAreFoundAndRevoked(t *testing.T) {
	o := newOperator(t)
	var a account.Account
	o.run(&a, "account", "create", "--name", "Acme")
	var leaked, safe apikey.NewKey
	o.run(&leaked, "key", "create", a.ID, "--kind", "live")
	o.run(&safe, "key", "create", a.ID)
	unknown, err := auth.NewKey(tenant.Live, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	mistyped := leaked.Secret[:20] + "0" + leaked.Secret[21:]
	if mistyped == leaked.Secret {
		mistyped = leaked.Secret[:20] + "1" + leaked.Secret[21:]
	}
	o.in = "export KEY=" + leaked.Secret + "; # not " + mistyped + "\nold: \"" + unknown + "\""

	shown := func(secret string) string { return secret[:auth.PrefixLength] + "…" + secret[len(secret)-4:] }
	found := o.run(nil, "key", "find")
	for _, want := range []string{
		shown(leaked.Secret) + "  " + a.ID + "  " + leaked.ID + "  active\n",
		shown(mistyped) + "  is no key: its checksum is wrong\n",
		shown(unknown) + "  is unknown here\n",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("it prints %q without %q", found, want)
		}
	}
	if o.secret(leaked.Secret).Revoked {
		t.Error("the key is revoked without being asked for")
	}
	if got := o.run(nil, "key", "find", "--revoke"); !strings.Contains(got, leaked.ID+"  revoked") ||
		!o.secret(leaked.Secret).Revoked || o.secret(safe.Secret).Revoked {
		t.Errorf("after revoking: %s", got)
	}
	if log := storetest.Snapshot(t, o.audit); strings.Contains(log, leaked.Secret) ||
		!strings.Contains(log, "admin.key.find") {
		t.Errorf("the audit log is %s", log)
	}
	// A second report finds the key already revoked.
	o.run(nil, "key", "find", "--revoke")
}
