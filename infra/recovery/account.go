package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/task"
)

// Table is a table that items are deleted from.
type Table interface {
	Scanner
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Bucket is the bucket of the media.
type Bucket interface {
	ListObjectVersions(context.Context, *s3.ListObjectVersionsInput, ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
}

// Data is where the data of accounts is.
type Data struct {
	Table  Table
	State  string
	Audit  string
	Bucket Bucket
	Media  string
}

// folders hold the objects of accounts: each begins with the id of one.
var folders = []string{"media/", "inputs/", "uploads/", "raw/"}

// exported is a line of an export.
type exported struct {
	Kind    string            `json:"kind"`
	ID      string            `json:"id"`
	Mode    string            `json:"mode,omitempty"`
	Data    json.RawMessage   `json:"data,omitempty"`
	Numbers map[string]string `json:"numbers,omitempty"`
}

// ofThePerson are the kinds that are the customer's data. Others are the service's own: work
// in progress, counters, secrets and what is remembered for repeats. A new kind of resource
// is added here.
var ofThePerson = []string{
	"account", "api_key", "audit_entry", "balance", "balance_entry", "content_item", "content_plan", "delivery", "diagnosis", "event",
	"factory", "generation", "media", "product", "promotion", "proposal", "social_account", "trained_model", "training", "webhook",
}

// hidden are members of documents that hold secrets, sealed or not.
var hidden = []string{"sealed", "secret", "secrets"}

// Export writes an account's data as lines of JSON, without secrets, then the keys of its
// files. It returns the number of lines.
func (d Data) Export(ctx context.Context, id string, out io.Writer) (lines int, err error) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	found := false
	for _, table := range []string{d.State, d.Audit} {
		err := each(ctx, d.Table, table, func(r row) error {
			if !belongs(r, id) || !slices.Contains(ofThePerson, r.text("kind")) {
				return nil
			}
			found = found || r.text("kind") == account.Kind
			e := exported{Kind: r.text("kind"), ID: r.text("pk"), Mode: r.text("mode"), Numbers: map[string]string{}}
			for name, value := range r {
				if n, ok := value.(*types.AttributeValueMemberN); ok && strings.HasPrefix(name, "n_") {
					e.Numbers[strings.TrimPrefix(name, "n_")] = n.Value
				}
			}
			if doc := r.text("doc"); doc != "" {
				var members any
				if err := r.decode(&members); err != nil {
					return err
				}
				hide(members)
				if e.Data, err = json.Marshal(members); err != nil {
					return err
				}
			}
			lines++
			return encoder.Encode(e)
		})
		if err != nil {
			return lines, err
		}
	}
	if !found {
		return lines, fmt.Errorf("there is no account %s", id)
	}
	err = d.objects(ctx, id, func(all []s3types.ObjectIdentifier) error {
		for _, o := range all {
			lines++
			if err := encoder.Encode(exported{Kind: "file", ID: *o.Key}); err != nil {
				return err
			}
		}
		return nil
	})
	return lines, err
}

// hide removes secrets.
func hide(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if slices.Contains(hidden, name) {
				delete(v, name)
			} else {
				hide(member)
			}
		}
	case []any:
		for _, one := range v {
			hide(one)
		}
	}
}

// belongs reports whether an item is of the account.
func belongs(r row, id string) bool {
	return r.account() == id || r.text("pk") == id || slices.Contains(strings.FieldsFunc(r.text("pk"), func(c rune) bool { return c == '#' || c == '/' }), id)
}

// Erased is what was erased of an account.
type Erased struct {
	Items int `json:"items"`
	Files int `json:"files"` // versions of objects
	Kept  int `json:"kept"`  // entries of the ledger
}

// Erase deletes an account with all its files, for good. The name must be that of the
// account. KeepLedger keeps the entries of its balance without their metadata, as the law of
// accounts may demand. It refuses while a task works for the account. What is done stays
// done if it is interrupted; repeated, it goes on. The account itself goes last.
func (d Data) Erase(ctx context.Context, id, name string, keepLedger bool) (e Erased, err error) {
	if err := d.mayErase(ctx, id, name); err != nil {
		return e, err
	}
	err = d.objects(ctx, id, func(all []s3types.ObjectIdentifier) error {
		out, err := d.Bucket.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &d.Media, Delete: &s3types.Delete{Objects: all, Quiet: aws.Bool(true)}})
		if err != nil {
			return fmt.Errorf("delete files: %w", err)
		}
		if len(out.Errors) > 0 {
			return fmt.Errorf("%d files could not be deleted, the first, %s, for %s", len(out.Errors), aws.ToString(out.Errors[0].Key), aws.ToString(out.Errors[0].Message))
		}
		e.Files += len(all)
		return nil
	})
	if err != nil {
		return e, err
	}
	var last []row
	err = each(ctx, d.Table, d.State, func(r row) error {
		switch kind := r.text("kind"); {
		case !belongs(r, id):
			return nil
		case kind == account.Kind:
			last = append(last, r)
			return nil
		case keepLedger && kind == ledger.Kind:
			e.Kept++
			return nil
		default:
			e.Items++
			return d.delete(ctx, r)
		}
	})
	for _, r := range last {
		if err == nil {
			e.Items++
			err = d.delete(ctx, r)
		}
	}
	return e, err
}

func (d Data) delete(ctx context.Context, r row) error {
	_, err := d.Table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &d.State, Key: map[string]types.AttributeValue{"pk": r["pk"], "sk": r["sk"]}})
	if err != nil {
		return fmt.Errorf("delete %s: %w", r.text("pk"), err)
	}
	return nil
}

// mayErase refuses a name that is not the account's, keys that could make new data, and work
// that would write after it was erased.
func (d Data) mayErase(ctx context.Context, id, name string) error {
	found, keys, tasks := "", 0, 0
	err := each(ctx, d.Table, d.State, func(r row) error {
		if !belongs(r, id) {
			return nil
		}
		var doc struct{ Name, State string }
		switch r.text("kind") {
		case account.Kind:
			err := r.decode(&doc)
			found = doc.Name
			return err
		case "api_key":
			err := r.decode(&doc)
			if doc.State == "active" {
				keys++
			}
			return err
		case task.ItemKind:
			if r.text("f_state") != "ended" {
				tasks++
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case found == "":
		return fmt.Errorf("there is no account %s", id)
	case found != name:
		return errors.New("--name is not the name of the account: nothing was erased")
	case keys > 0:
		return fmt.Errorf("%d keys are active: revoke them first, so that nothing new is made", keys)
	case tasks > 0:
		return fmt.Errorf("%d tasks work for the account: wait until they have ended", tasks)
	}
	return nil
}

// objects calls f with all versions of the objects of an account, a page at a time.
func (d Data) objects(ctx context.Context, id string, f func([]s3types.ObjectIdentifier) error) error {
	for _, folder := range folders {
		in := &s3.ListObjectVersionsInput{Bucket: &d.Media, Prefix: aws.String(folder + id + "/")}
		for {
			page, err := d.Bucket.ListObjectVersions(ctx, in)
			if err != nil {
				return fmt.Errorf("list the files in %s: %w", folder, err)
			}
			var all []s3types.ObjectIdentifier
			for _, v := range page.Versions {
				all = append(all, s3types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
			}
			for _, v := range page.DeleteMarkers {
				all = append(all, s3types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
			}
			if len(all) > 0 {
				if err := f(all); err != nil {
					return err
				}
			}
			if in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker; !aws.ToBool(page.IsTruncated) {
				break
			}
		}
	}
	return nil
}
