package e2e

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/store"
)

// seen are the secrets that the tests have received.
var seen = struct {
	sync.Mutex
	secrets map[string]bool
}{secrets: map[string]bool{}}

var secretShape = regexp.MustCompile(`svc_(?:live|test)_[0-9A-Za-z]{20,}|whsec_[0-9A-Za-z+/=]{20,}`)

// note records the secrets in a text.
func note(text string) {
	seen.Lock()
	defer seen.Unlock()
	for _, secret := range secretShape.FindAllString(text, -1) {
		seen.secrets[secret] = true
	}
}

// noteSecret records secrets that have no recognizable form.
func noteSecret(secrets ...string) {
	seen.Lock()
	defer seen.Unlock()
	for _, secret := range secrets {
		seen.secrets[secret] = true
	}
}

// search finds texts with a secret, plain or encoded.
type search struct {
	// forms are the texts to find, by their first bytes.
	forms map[string][]form
}

type form struct{ text, of string }

// first is the number of bytes by which forms are looked up. No form is shorter.
const first = 8

func newSearch(secrets []string) *search {
	s := &search{forms: map[string][]form{}}
	for _, secret := range secrets {
		name := secret[:min(len(secret), 6)] + "…"
		s.add(name, secret)
		_, random, _ := strings.Cut(secret, "_")
		if body, ok := strings.CutPrefix(secret, "whsec_"); ok {
			s.add(name, body)
			if key, err := base64.StdEncoding.DecodeString(body); err == nil {
				s.add(name, string(key))
			}
		} else if _, random, ok := strings.Cut(random, "_"); ok && strings.HasPrefix(secret, "svc_") {
			s.add(name, random)
		}
	}
	return s
}

// add adds the forms of a text: plain, in hexadecimal, and in base64 at each offset in the
// encoded data.
func (s *search) add(name, text string) {
	forms := []string{text, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text)))}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			encoded := encoding.EncodeToString([]byte(strings.Repeat("x", shift) + text))
			// The first and last digits depend on the neighbouring bytes.
			forms = append(forms, encoded[shift*4/3+min(shift, 1):len(encoded)-2])
		}
	}
	for _, f := range forms {
		if len(f) >= first {
			s.forms[f[:first]] = append(s.forms[f[:first]], form{f, name})
		}
	}
}

// in returns the beginning of a secret in the text, or "" if there is none.
func (s *search) in(text string) string {
	for i := 0; i+first <= len(text); i++ {
		for _, f := range s.forms[text[i:i+first]] {
			if strings.HasPrefix(text[i:], f.text) {
				return f.of
			}
		}
	}
	return ""
}

// secrets returns the secrets that the tests have seen, and those of the system itself.
func secrets(ctx context.Context) ([]string, error) {
	client := secretsmanager.NewFromConfig(running.AWS())
	read := func(arn string) (string, error) {
		out, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
		if err != nil {
			return "", err
		}
		return aws.ToString(out.SecretString), nil
	}
	sealing, err := read(running.Outputs["SealSecretArn"])
	if err != nil {
		return nil, err
	}
	value, err := stored.Parse(sealing)
	if err != nil {
		return nil, err
	}
	all := []string{value.Secret}
	for _, e := range value.Earlier {
		all = append(all, e.Secret)
	}
	document, err := read(running.ProviderSecret)
	if err != nil {
		return nil, err
	}
	providers, err := registry.ParseCredentials(document)
	if err != nil {
		return nil, err
	}
	for _, credential := range providers {
		all = append(all, credential.Reveal())
	}
	document, err = read(running.PlatformSecret)
	if err != nil {
		return nil, err
	}
	registered, err := social.ParseApps(document)
	if err != nil {
		return nil, err
	}
	for _, app := range registered {
		if app.Secret != "" {
			all = append(all, app.Secret.Reveal())
		}
	}
	seen.Lock()
	defer seen.Unlock()
	for secret := range seen.secrets {
		all = append(all, secret)
	}
	return all, nil
}

// leaks returns the places of secrets: items of tables, and lines of logs below the folder.
func leaks(ctx context.Context, logs string) ([]string, error) {
	all, err := secrets(ctx)
	if err != nil {
		return nil, err
	}
	s := newSearch(all)
	stored, err := s.tables(ctx)
	if err != nil {
		return nil, err
	}
	logged, err := s.logs(logs)
	fmt.Printf("searched for %d secrets\n", len(all))
	return append(stored, logged...), err
}

// tables returns the items with a secret.
func (s *search) tables(ctx context.Context) (found []string, err error) {
	for _, table := range []string{running.Table, running.AuditTable} {
		pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(running.AWS()),
			&dynamodb.ScanInput{TableName: &table})
		items := 0
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			items += len(page.Items)
			for _, item := range page.Items {
				item, err := store.Unpack(item)
				if err != nil {
					return nil, err
				}
				text, err := textOf(item)
				if err != nil {
					return nil, err
				}
				if of := s.in(text); of != "" {
					key, _ := item["pk"].(*types.AttributeValueMemberS)
					found = append(found, fmt.Sprintf("%s in the item %.12s… of %s", of, key.Value, table))
				}
			}
		}
		if items == 0 {
			return nil, fmt.Errorf("%s is empty", table)
		}
	}
	return found, nil
}

// logs returns the lines with a secret in the logs below a folder.
func (s *search) logs(dir string) (found []string, err error) {
	lines := 0
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".log" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			lines++
			if of := s.in(line); of != "" {
				found = append(found, fmt.Sprintf("%s in line %d of %s", of, n+1, path))
			}
		}
		return nil
	})
	if err == nil && lines == 0 {
		err = fmt.Errorf("%s holds no logs", dir)
	}
	return found, err
}

// textOf returns all texts of an item, one on each line.
func textOf(item map[string]types.AttributeValue) (string, error) {
	var all strings.Builder
	for name, value := range item {
		all.WriteString(name + "\n")
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			// Some JSON escapes the digits of base64.
			var decoded any
			if json.Unmarshal([]byte(v.Value), &decoded) == nil {
				fmt.Fprintln(&all, decoded)
			}
			all.WriteString(v.Value + "\n")
		case *types.AttributeValueMemberB:
			all.Write(v.Value)
		case *types.AttributeValueMemberN, *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		default:
			return "", fmt.Errorf("the search does not know what is in a %T", value)
		}
	}
	return all.String(), nil
}

func TestTheSearchFindsPlantedSecrets(t *testing.T) {
	key := newCustomer(t).test.Secret
	client := dynamodb.NewFromConfig(running.AWS())
	hook := into[struct{ ID, Secret string }](call(t, key, "POST", "/v1/webhooks",
		object{"url": "http://127.0.0.1:9/hook", "event_types": []string{"*"}}), 201).Secret
	signing, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(hook, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	system, err := secrets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(system)
	texts := []string{
		`{"error":"the key ` + key + ` is not valid"}`, key[len("svc_test_"):],
		base64.StdEncoding.EncodeToString([]byte("Bearer " + key)),
		hook, hex.EncodeToString(signing), base64.URLEncoding.EncodeToString(append([]byte("k="), signing...)),
		system[0], `{"token":"local-replicate"}`,
	}
	if found := s.in(strings.Repeat("svc_test_ whsec_ local- ", 3) + key[:20]); found != "" {
		t.Errorf("found %s in a text that holds no secret", found)
	}
	if of := newSearch([]string{"a_token_x"}); of.in("x, and the token of another") != "" || of.in("a_token_x") == "" {
		t.Error("a part of a secret of a platform is taken for the secret")
	}
	var log strings.Builder
	for n, text := range texts {
		fmt.Fprintf(&log, "msg=%s\n", text)
		for _, table := range []string{running.Table, running.AuditTable} {
			at := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("planted-", n)},
				"sk": &types.AttributeValueMemberS{Value: "x"}}
			item := maps.Clone(at)
			item["doc"] = &types.AttributeValueMemberS{Value: text}
			if _, err := client.PutItem(t.Context(),
				&dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if _, err := client.DeleteItem(context.WithoutCancel(t.Context()),
					&dynamodb.DeleteItemInput{TableName: &table, Key: at}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	stored, err := s.tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "functions.log"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	logged, err := s.logs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for n, text := range texts {
		for _, table := range []string{running.Table, running.AuditTable} {
			if want := fmt.Sprintf("in the item planted-%d… of %s", n, table); !strings.Contains(strings.Join(stored,
				"\n"), want) {
				t.Errorf("%s was not found %s", text, want)
			}
		}
		if want := fmt.Sprintf("in line %d of", n+1); !strings.Contains(strings.Join(logged, "\n"), want) {
			t.Errorf("%s was not found %s the log", text, want)
		}
	}
}
