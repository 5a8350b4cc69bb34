package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/task"
)

// Table changes the items of a table.
type Table interface {
	Scanner
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput,
		...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Bucket is the bucket of the media.
type Bucket interface {
	ListObjectVersions(context.Context, *s3.ListObjectVersionsInput,
		...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
}

// Data has the tables and buckets with the data of accounts.
type Data struct {
	Table  Table
	State  string
	Audit  string
	Bucket Bucket
	Media  string
	// Copies is the bucket in the replica's region to which files are copied. Versions in it must
	// be deleted separately. Its name is empty without a replica.
	Copies     Bucket
	CopiesName string
}

// folders have the objects of accounts. The next part of each key begins with an account's id.
var folders = []string{"media/", "inputs/", "uploads/", "raw/"}

// exported is a line of an export.
type exported struct {
	Kind    string            `json:"kind"`
	ID      string            `json:"id"`
	Mode    string            `json:"mode,omitempty"`
	Data    json.RawMessage   `json:"data,omitempty"`
	Numbers map[string]string `json:"numbers,omitempty"`
	Texts   map[string]string `json:"texts,omitempty"`
}

// hidden are the members of documents with secrets, plain, sealed or hashed, or with
// authorization URLs.
var hidden = []string{"authorization_url", "hash", "nonce", "sealed", "secret", "secrets"}

// Export writes an account's data as lines of JSON, without secrets, and then the keys of its
// files. It returns the number of lines.
func (d Data) Export(ctx context.Context, id string, out io.Writer) (lines int, err error) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	found := false
	for _, table := range []string{d.State, d.Audit} {
		err := each(ctx, d.Table, table, func(r row) error {
			if r.account() != id || !kinds[r.text("kind")].own {
				return nil
			}
			found = found || r.text("kind") == account.Kind
			e := exported{Kind: r.text("kind"), ID: r.text("pk"), Mode: r.text("mode"), Numbers: map[string]string{},
				Texts: map[string]string{}}
			for name := range r {
				if n, ok := r[name].(*types.AttributeValueMemberN); ok && strings.HasPrefix(name, "n_") {
					e.Numbers[strings.TrimPrefix(name, "n_")] = n.Value
				} else if text, ok := strings.CutPrefix(name, "x_"); ok && !slices.Contains(hidden, text) {
					e.Texts[text] = r.text(name)
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
	err = objects(ctx, d.Bucket, d.Media, id, func(all []s3types.ObjectIdentifier) error {
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

// hide removes the hidden members.
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

// Erased counts the erased data of an account.
type Erased struct {
	Items int `json:"items"`
	Files int `json:"files"` // versions of objects
	Kept  int `json:"kept"`  // entries of the ledger
}

// Erase permanently deletes an account with all its files. name must be the account's name.
// keepLedger keeps the entries of its balance without their metadata, because the law may
// require them. Erase refuses while a task works for the account. If it is interrupted, a
// repeated call continues: it deletes the account itself last.
func (d Data) Erase(ctx context.Context, id, name string, keepLedger bool) (e Erased, err error) {
	if err := d.mayErase(ctx, id, name); err != nil {
		return e, err
	}
	err = d.eraseFiles(ctx, d.Bucket, d.Media, id, &e)
	if err == nil && d.CopiesName != "" {
		err = d.eraseFiles(ctx, d.Copies, d.CopiesName, id, &e)
	}
	if err != nil {
		return e, err
	}
	return e, d.eraseItems(ctx, id, keepLedger, &e)
}

// eraseFiles deletes all versions of an account's files from a bucket.
func (d Data) eraseFiles(ctx context.Context, bucket Bucket, name, id string, e *Erased) error {
	return objects(ctx, bucket, name, id, func(all []s3types.ObjectIdentifier) error {
		out, err := bucket.DeleteObjects(ctx,
			&s3.DeleteObjectsInput{Bucket: &name, Delete: &s3types.Delete{Objects: all, Quiet: aws.Bool(true)}})
		if err != nil {
			return fmt.Errorf("delete files: %w", err)
		}
		if len(out.Errors) > 0 {
			return fmt.Errorf("%d files could not be deleted, the first, %s, for %s", len(out.Errors),
				aws.ToString(out.Errors[0].Key), aws.ToString(out.Errors[0].Message))
		}
		e.Files += len(all)
		return nil
	})
}

// eraseItems deletes the items of an account. Counters have no owner: they are found by the
// ids of the counted items, and so go before those.
func (d Data) eraseItems(ctx context.Context, id string, keepLedger bool, e *Erased) error {
	ids := map[string]bool{id: true}
	var last []row
	err := each(ctx, d.Table, d.State, func(r row) error {
		if r.account() == id {
			ids[r.text("pk")], ids[r.text("sk")] = true, true
		}
		return nil
	})
	delete(ids, "#") // the sort key of single items
	for _, counters := range []bool{true, false} {
		if err != nil {
			break
		}
		err = each(ctx, d.Table, d.State, func(r row) error {
			switch kind := r.text("kind"); {
			case counters && !counts(r, ids), !counters && r.account() != id:
				return nil
			case kind == account.Kind:
				last = append(last, r)
				return nil
			case keepLedger && kind == ledger.Kind:
				e.Kept++
				return d.strip(ctx, r)
			}
			e.Items++
			return d.delete(ctx, r)
		})
	}
	for _, r := range last {
		if err == nil {
			e.Items++
			err = d.delete(ctx, r)
		}
	}
	return err
}

// counts reports whether an item without an owner has one of the ids in its key.
func counts(r row, ids map[string]bool) bool {
	return r.account() == "" && slices.ContainsFunc(strings.FieldsFunc(r.text("pk"),
		func(c rune) bool { return c == '#' || c == '/' }), func(part string) bool { return ids[part] })
}

// strip removes the customer's own texts from an entry of the ledger.
func (d Data) strip(ctx context.Context, r row) error {
	var doc map[string]any
	if err := r.decode(&doc); err != nil {
		return err
	}
	doc["metadata"] = map[string]string{}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	stripped := maps.Clone(r)
	stripped["doc"] = &types.AttributeValueMemberS{Value: string(text)}
	if _, err := d.Table.PutItem(ctx, &dynamodb.PutItemInput{TableName: &d.State, Item: stripped}); err != nil {
		return fmt.Errorf("change %s: %w", r.text("pk"), err)
	}
	return nil
}

func (d Data) delete(ctx context.Context, r row) error {
	_, err := d.Table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &d.State,
		Key: map[string]types.AttributeValue{"pk": r["pk"], "sk": r["sk"]}})
	if err != nil {
		return fmt.Errorf("delete %s: %w", r.text("pk"), err)
	}
	return nil
}

// mayErase returns an error if the name is not the account's, if a key could still make new
// data, or if a task would write after the deletion.
func (d Data) mayErase(ctx context.Context, id, name string) error {
	found, keys, tasks := "", 0, 0
	err := each(ctx, d.Table, d.State, func(r row) error {
		if r.account() != id {
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

// objects calls f with all versions of an account's objects, one page at a time.
func objects(ctx context.Context, bucket Bucket, name, id string, f func([]s3types.ObjectIdentifier) error) error {
	for _, folder := range folders {
		in := &s3.ListObjectVersionsInput{Bucket: &name, Prefix: aws.String(folder + id + "/")}
		for {
			page, err := bucket.ListObjectVersions(ctx, in)
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
			if in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker,
				page.NextVersionIdMarker; !aws.ToBool(page.IsTruncated) {
				break
			}
		}
	}
	return nil
}
