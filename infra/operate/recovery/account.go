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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/polly"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
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
	// People is the pool that people sign in at. Nil: the system has none.
	People Pool
}

// Pool has the people who sign in: their names, e-mail addresses and passwords.
type Pool interface {
	// Forget deletes all people with an e-mail address, and returns their number.
	Forget(ctx context.Context, email string) (int, error)
}

// folders have the objects of accounts. The next part of each key is an account's id.
var folders = []string{"media/", media.Inputs, media.Uploads, transfer.Exports, transfer.Imports,
	bedrock.RawPrefix, polly.RawPrefix}

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
	found, trainings := false, []string(nil)
	for _, table := range []string{d.State, d.Audit} {
		err := each(ctx, d.Table, table, func(r row) error {
			if r.account() != id || !erasure.ByName[r.text("kind")].Own {
				return nil
			}
			switch r.text("kind") {
			case account.Kind:
				found = true
			case training.ItemKind:
				trainings = append(trainings, r.text("pk"))
			}
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
	err = objects(ctx, d.Bucket, d.Media, prefixes(id, trainings), func(all []s3types.ObjectIdentifier) error {
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
	Items  int `json:"items"`
	Files  int `json:"files"`  // versions of objects
	Kept   int `json:"kept"`   // entries of the ledger
	People int `json:"people"` // of the pool
}

// Erase permanently deletes an account with all its files, and its people in the pool, unless they are people of
// another account as well. name must be the account's name.
// keepLedger keeps the entries of its balance without their metadata, because the law may
// require them. Erase refuses while a task works for the account. If it is interrupted, a
// repeated call continues: it deletes the account itself last.
func (d Data) Erase(ctx context.Context, id, name string, keepLedger bool) (e Erased, err error) {
	s, err := d.survey(ctx, id)
	if err == nil {
		err = s.mayErase(id, name)
	}
	if err != nil {
		return e, err
	}
	of := prefixes(id, s.trainings)
	err = d.eraseFiles(ctx, d.Bucket, d.Media, of, &e)
	if err == nil && d.CopiesName != "" {
		err = d.eraseFiles(ctx, d.Copies, d.CopiesName, of, &e)
	}
	for _, email := range slices.Sorted(maps.Keys(s.people)) {
		if err != nil || s.elsewhere[email] || d.People == nil {
			continue
		}
		var n int
		if n, err = d.People.Forget(ctx, email); err != nil {
			err = fmt.Errorf("delete a person of the pool: %w", err)
		}
		e.People += n
	}
	if err != nil {
		return e, err
	}
	return e, d.eraseItems(ctx, id, keepLedger, &e)
}

// eraseFiles deletes all versions of an account's files from a bucket.
func (d Data) eraseFiles(ctx context.Context, bucket Bucket, name string, of []string, e *Erased) error {
	return objects(ctx, bucket, name, of, func(all []s3types.ObjectIdentifier) error {
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

// survey is what the table says about an account before it is erased.
type survey struct {
	name        string
	keys, tasks int
	trainings   []string
	// people are the e-mail addresses of the account's people; elsewhere are those of the people of other accounts.
	people, elsewhere map[string]bool
}

func (d Data) survey(ctx context.Context, id string) (survey, error) {
	s := survey{people: map[string]bool{}, elsewhere: map[string]bool{}}
	err := each(ctx, d.Table, d.State, func(r row) error {
		kind := r.text("kind")
		if r.account() != id && kind != person.Kind {
			return nil
		}
		var doc struct{ Name, State, Email string }
		switch kind {
		case account.Kind:
			err := r.decode(&doc)
			s.name = doc.Name
			return err
		case person.Kind:
			err := r.decode(&doc)
			if r.account() == id {
				s.people[doc.Email] = true
			} else {
				s.elsewhere[doc.Email] = true
			}
			return err
		case training.ItemKind:
			s.trainings = append(s.trainings, r.text("pk"))
		case "api_key":
			err := r.decode(&doc)
			if doc.State == "active" {
				s.keys++
			}
			return err
		case task.ItemKind:
			if r.text("f_state") != "ended" {
				s.tasks++
			}
		}
		return nil
	})
	return s, err
}

// mayErase returns an error if the name is not the account's, if a key could still make new
// data, or if a task would write after the deletion.
func (s survey) mayErase(id, name string) error {
	switch {
	case s.name == "":
		return fmt.Errorf("there is no account %s", id)
	case s.name != name:
		return errors.New("--name is not the name of the account: nothing was erased")
	case s.keys > 0:
		return fmt.Errorf("%d keys are active: revoke them first, so that nothing new is made", s.keys)
	case s.tasks > 0:
		return fmt.Errorf("%d tasks work for the account: wait until they have ended", s.tasks)
	}
	return nil
}

// prefixes returns the prefixes of the keys of an account's objects.
func prefixes(id string, trainings []string) (all []string) {
	for _, folder := range folders {
		all = append(all, folder+id+"/")
	}
	for _, t := range trainings {
		all = append(all, training.Folder(t))
	}
	return all
}

// objects calls f with all versions of the objects with some prefixes, one page at a time.
func objects(ctx context.Context, bucket Bucket, name string, of []string,
	f func([]s3types.ObjectIdentifier) error) error {
	for _, prefix := range of {
		in := &s3.ListObjectVersionsInput{Bucket: &name, Prefix: &prefix}
		for {
			page, err := bucket.ListObjectVersions(ctx, in)
			if err != nil {
				return fmt.Errorf("list the files in %s: %w", prefix, err)
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

// Tables restores, reads and deletes tables of DynamoDB.
type Tables interface {
	Scanner
	RestoreTableToPointInTime(context.Context, *dynamodb.RestoreTableToPointInTimeInput,
		...func(*dynamodb.Options)) (*dynamodb.RestoreTableToPointInTimeOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput,
		...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DeleteTable(context.Context, *dynamodb.DeleteTableInput,
		...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput, error)
}

// Rehearsal is a rehearsal of a restore: it uses the tables of a running system, and changes nothing of them.
type Rehearsal struct {
	Tables Tables
	// State and Audit are the names of the tables. The restored ones have them with the ending Suffix, and are deleted.
	State, Audit, Suffix string
	Now                  func() time.Time
	Wait                 func(ctx context.Context, d time.Duration) error
}

// Timed is how long the steps of a rehearsal took.
type Timed struct {
	// Restore is the time to restore both tables, Check that to check the restored one.
	Restore, Check time.Duration
	Report         Report
}

// askEvery is the time between two questions whether a table is restored.
const askEvery = 5 * time.Second

// Run restores both tables to the latest second beside the running ones, checks the state table, and deletes the
// restored tables, also after a failure.
func (r Rehearsal) Run(ctx context.Context) (t Timed, err error) {
	began := r.Now()
	for _, name := range []string{r.State, r.Audit} {
		to := name + r.Suffix
		if _, err := r.Tables.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
			SourceTableName: &name, TargetTableName: &to, UseLatestRestorableTime: aws.Bool(true)}); err != nil {
			return t, fmt.Errorf("restore %s: %w", name, err)
		}
		defer func() {
			_, failed := r.Tables.DeleteTable(context.WithoutCancel(ctx), &dynamodb.DeleteTableInput{TableName: &to})
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("delete %s by hand: %w", to, failed))
			}
		}()
	}
	for _, name := range []string{r.State + r.Suffix, r.Audit + r.Suffix} {
		if err := r.restored(ctx, name); err != nil {
			return t, err
		}
	}
	t.Restore = r.Now().Sub(began)
	began = r.Now()
	t.Report, err = Check(ctx, r.Tables, r.State+r.Suffix)
	t.Check = r.Now().Sub(began)
	return t, err
}

// restored waits until a table is restored. AWS takes as long as it takes.
func (r Rehearsal) restored(ctx context.Context, name string) error {
	for {
		out, err := r.Tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return fmt.Errorf("look at %s: %w", name, err)
		}
		if out.Table.TableStatus == types.TableStatusActive {
			return nil
		}
		if err := r.Wait(ctx, askEvery); err != nil {
			return err
		}
	}
}
