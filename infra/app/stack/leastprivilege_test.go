package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// on returns the actions that permissions with an effect name for a resource, sorted.
func on(permissions []permission, effect, resource string) []string {
	var actions []string
	for _, p := range permissions {
		if p.effect == effect && strings.Contains(p.resources, resource) {
			actions = append(actions, p.actions...)
		}
	}
	slices.Sort(actions)
	return actions
}

func TestOnlyWhoIssuesKeysReachesTheirSecrets(t *testing.T) {
	const (
		secrets = "map[ForAnyValue:StringLike:map[dynamodb:LeadingKeys:[secret#* " + signOn + "]]]"
		decoder = "map[ForAnyValue:StringLike:map[dynamodb:LeadingKeys:[" + deniedToDecoders + "]]]"
	)
	for name, permissions := range permissionsOf(acme) {
		f := topology.FunctionNamed(name)
		var denied []string
		for _, p := range permissions {
			if p.effect == "Deny" && (p.conditions == secrets || p.conditions == decoder) &&
				strings.Contains(p.resources, "State") {
				denied = append(denied, p.actions...)
			}
		}
		if f.State == nil || f.May(topology.ManageKeySecrets) || f.CredentialsOnly {
			if len(denied) > 0 {
				t.Errorf("%s may not %v", name, denied)
			}
			continue
		}
		for _, action := range on(permissions, "Allow", "State") {
			if strings.HasPrefix(action, "dynamodb:") && !strings.Contains(action, "Stream") &&
				!strings.Contains(action, "Records") && !strings.Contains(action, "Shard") &&
				!slices.Contains(denied, action) {
				t.Errorf("%s may %s on secrets of API keys", name, action)
			}
		}
	}
}

// deniedToDecoders are the partitions of the items that decide about access, or act later.
const deniedToDecoders = "acc_* answer#* calls#* keycount#* keys#* people#* secret#* secrets#* soc_* usage#* whk_* " +
	"aut_* int_* prf_* rvl_* " + signOn

// signOn are the partitions of the items that decide who is a person of an account.
const signOn = "con_* directory#* domain#* setup#* peoplecount#* email#* invitation#* owners#* session#* " +
	"handover#*"

// If a file takes over a decoder, it reaches no item that decides about access, and changes only
// files of its kind of work.
func TestWhoDecodesFilesReachesLittle(t *testing.T) {
	for name, c := range map[string]struct{ puts string }{
		"compose":      {"/media/*/*/cnt_* /media/*/*/gen_*"},
		"import-media": {"/media/*/*/med_* /media/*/*/pho_* /uploads/*"},
	} {
		permissions := permissionsOf(acme)[name]
		var denied []string
		puts := 0
		for _, p := range permissions {
			if p.effect == "Deny" && strings.Contains(p.conditions, "ForAnyValue:StringLike:map[dynamodb:LeadingKeys:["+
				deniedToDecoders+"]") {
				denied = append(denied, p.actions...)
			}
			if !slices.Contains(p.actions, "s3:PutObject") && !slices.Contains(p.actions, "s3:DeleteObject") {
				continue
			}
			puts++
			if got := strings.Join(folders(p.resources), " "); got != c.puts ||
				slices.Contains(p.actions, "s3:GetObject") {
				t.Errorf("%s may %v in %s", name, p.actions, p.resources)
			}
		}
		for _, action := range on(permissions, "Allow", "State") {
			if strings.HasPrefix(action, "dynamodb:") && !slices.Contains(denied, action) {
				t.Errorf("%s may %s on keys and accounts", name, action)
			}
		}
		if puts != 1 || len(denied) < 4 || !topology.FunctionNamed(name).DecodesFiles {
			t.Errorf("%s: %d permissions to put, and it may not %v", name, puts, denied)
		}
	}
}

// folders returns the folders of a bucket that resources name, sorted.
func folders(resources string) []string {
	var all []string
	for _, part := range strings.FieldsFunc(resources, func(r rune) bool { return r == ' ' || r == ']' || r == '[' }) {
		if strings.HasPrefix(part, "/") {
			all = append(all, part)
		}
	}
	slices.Sort(all)
	return all
}

func TestTheAuthorizerOnlyCounts(t *testing.T) {
	found := 0
	for _, p := range permissionsOf(acme)["authorizer"] {
		if !strings.HasPrefix(p.actions[0], "dynamodb:") {
			continue
		}
		found++
		// It also reads the counts of the secret before a rotation.
		only := map[string]string{"dynamodb:UpdateItem": "[calls#* keys#* people#* secret#* usage#*]",
			"dynamodb:GetItem": "[people#* secret#*]"}[p.actions[0]]
		if len(p.actions) != 1 || only == "" || p.conditions != "map[ForAllValues:StringLike:map[dynamodb:LeadingKeys:"+
			only+"]]" || strings.Contains(p.resources, "index") {
			t.Errorf("it may %v on %s if %s", p.actions, p.resources, p.conditions)
		}
	}
	if found != 2 {
		t.Errorf("it has %d permissions for tables", found)
	}
}

func TestTheCustomersKeyIsUsedThroughServicesAlone(t *testing.T) {
	checked := 0
	for name, permissions := range permissionsOf(acme) {
		for _, p := range permissions {
			if !strings.HasPrefix(p.actions[0], "kms:") || strings.Contains(p.resources, "SecretsKey") ||
				strings.Contains(p.resources, "MediaKey") {
				continue
			}
			checked++
			if !strings.HasPrefix(p.conditions, "map[StringEquals:map[kms:ViaService:") ||
				!strings.Contains(p.conditions, ".eu-central-1.amazonaws.com") {
				t.Errorf("%s may %v on condition of %s", name, p.actions, p.conditions)
			}
			f := topology.FunctionNamed(name)
			if got := strings.Contains(p.conditions, "s3.eu-central-1"); got != (f.Media != topology.None ||
				f.May(topology.StoreInputs)) {
				t.Errorf("%s uses the key through S3: %v", name, got)
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d permissions were looked at", checked)
	}
}

func TestRolesOfOurOwnAccountAreNotAssumed(t *testing.T) {
	for account, s := range map[string]stacks{"111122223333": acme, "map[Ref:AWS::AccountId]": local} {
		found := 0
		for name, permissions := range permissionsOf(s) {
			for _, p := range permissions {
				if slices.Contains(p.actions, "sts:AssumeRole") {
					found++
					if p.conditions != "map[StringNotEquals:map[aws:ResourceAccount:["+account+"]]]" {
						t.Errorf("%s may %v on condition of %s", name, p.actions, p.conditions)
					}
				}
			}
		}
		if found != 1 {
			t.Errorf("%d permissions were looked at", found)
		}
	}
}
