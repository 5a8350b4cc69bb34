package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

var _ store.Client = (*memtable.Engine)(nil)

type item = map[string]types.AttributeValue

const table = "things"

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func key(pk, sk string) item { return item{"pk": str(pk), "sk": str(sk)} }

// with adds an attribute to an item.
func with(it item, name string, v types.AttributeValue) item {
	it[name] = v
	return it
}

// client is a client of the SDK whose calls an engine answers, with a table that
// has an index of items and one of keys.
func client(t *testing.T, now func() time.Time) (*memtable.Engine, *dynamodb.Client) {
	t.Helper()
	e := memtable.New(now)
	c := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://memory"), HTTPClient: e, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
	if _, err := c.CreateTable(t.Context(), things()); err != nil {
		t.Fatal(err)
	}
	return e, c
}

// things is a table that has an index of items and one of keys.
func things() *dynamodb.CreateTableInput {
	schema := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	in := &dynamodb.CreateTableInput{TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		KeySchema: schema("pk", "sk")}
	for _, name := range []string{"pk", "sk", "g", "at"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName: aws.String("by_g"), KeySchema: schema("g", "at"),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}, {
		IndexName: aws.String("keys"), KeySchema: schema("g", "at"),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}}
	return in
}

func put(t *testing.T, c *dynamodb.Client, it item) {
	t.Helper()
	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: it}); err != nil {
		t.Fatal(err)
	}
}

// Requests that DynamoDB refuses are refused, and change nothing.
func TestRefusals(t *testing.T) {
	e, c := client(t, time.Now)
	refusals(t, c)
	if changes := e.Changes(table, 1); len(changes) != 0 {
		t.Errorf("it has changed: %v", changes)
	}
}

// AWS's own engine refuses all that this one is tested to refuse.
func TestRefusalsOfTheEngine(t *testing.T) {
	c, there := engine()
	if !there {
		t.Log("without AWS's own engine, its refusals are not checked")
		return
	}
	if _, err := c.CreateTable(t.Context(), things()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := c.DeleteTable(context.Background(),
			&dynamodb.DeleteTableInput{TableName: aws.String(table)}); err != nil {
			t.Error(err)
		}
	})
	refusals(t, c)
}

// refusals makes calls that must be refused.
func refusals(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	put(t, c, key("a", "1"))
	ctx, name := t.Context(), aws.String(table)
	putting := func(it item) error {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: it})
		return err
	}
	updating := func(text string, values item) error {
		_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: key("a", "1"),
			UpdateExpression: &text, ExpressionAttributeValues: values})
		return err
	}
	asking := func(change func(*dynamodb.QueryInput)) error {
		in := &dynamodb.QueryInput{TableName: name, KeyConditionExpression: aws.String("pk = :p"),
			ExpressionAttributeValues: item{":p": str("a")}}
		change(in)
		_, err := c.Query(ctx, in)
		return err
	}
	comparing := func(text string, x types.AttributeValue) error {
		return asking(func(in *dynamodb.QueryInput) {
			in.FilterExpression = &text
			in.ExpressionAttributeValues[":x"] = x
		})
	}
	getting := func(keys ...item) error {
		_, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			table: {Keys: keys}}})
		return err
	}
	writing := func(n int, sk func(int) string) error {
		in := &dynamodb.TransactWriteItemsInput{}
		for i := range n {
			in.TransactItems = append(in.TransactItems,
				types.TransactWriteItem{Put: &types.Put{TableName: name, Item: key("b", sk(i))}})
		}
		_, err := c.TransactWriteItems(ctx, in)
		return err
	}
	digits := func(i int) string { return fmt.Sprint(i) }
	for what, err := range map[string]error{
		"no sort key":              putting(item{"pk": str("a")}),
		"an empty key":             putting(key("a", "")),
		"a key of another type":    putting(item{"pk": str("a"), "sk": num("1")}),
		"an empty key of an index": putting(with(key("a", "2"), "g", str(""))),
		"a large item":             putting(with(key("a", "2"), "x", str(strings.Repeat("x", 400<<10)))),
		"a number that is none":    putting(with(key("a", "2"), "x", num("1/2"))),
		"a number of 39 digits": putting(with(key("a", "2"), "x",
			num("123456789012345678901234567890123456789"))),
		"a change of the key":           updating("SET sk = :x", item{":x": str("2")}),
		"one attribute twice":           updating("SET x = :x REMOVE x", item{":x": str("2")}),
		"a value that is not used":      updating("SET x = :x", item{":x": str("2"), ":y": str("2")}),
		"a value that is not there":     updating("SET x = :x", nil),
		"a section twice":               updating("SET x = :x SET y = :x", item{":x": str("2")}),
		"an attribute that is missing":  updating("SET x = y", nil),
		"a text that is added":          updating("ADD x :x", item{":x": str("2")}),
		"a text that is counted up":     updating("SET x = sk + :x", item{":x": num("2")}),
		"an update that grows too much": updating("SET x = :x", item{":x": str(strings.Repeat("x", 400<<10))}),
		"no expression":                 updating("SET", nil),
		"an unknown index":              asking(func(in *dynamodb.QueryInput) { in.IndexName = aws.String("by_x") }),
		"the table's key for an index":  asking(func(in *dynamodb.QueryInput) { in.IndexName = aws.String("by_g") }),
		"a consistent index": asking(func(in *dynamodb.QueryInput) {
			in.IndexName,
				in.ConsistentRead = aws.String("by_g"), aws.Bool(true)
		}),
		"a filter of the key": asking(
			func(in *dynamodb.QueryInput) { in.FilterExpression = aws.String("sk = :p") }),
		"a filter of what an index lacks": asking(func(in *dynamodb.QueryInput) {
			in.IndexName, in.KeyConditionExpression, in.FilterExpression = aws.String("keys"), aws.String("g = :p"),
				aws.String("x = :p")
		}),
		"a limit of 0":      asking(func(in *dynamodb.QueryInput) { in.Limit = aws.Int32(0) }),
		"a start elsewhere": asking(func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = key("b", "1") }),
		"a start that is no key": asking(
			func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = item{"pk": str("a")} }),
		"an empty partition": asking(
			func(in *dynamodb.QueryInput) { in.ExpressionAttributeValues[":p"] = str("") }),
		"a key condition with OR": asking(
			func(in *dynamodb.QueryInput) { in.KeyConditionExpression = aws.String("pk = :p OR sk = :p") }),
		"bounds the wrong way round": asking(func(in *dynamodb.QueryInput) {
			in.KeyConditionExpression = aws.String("pk = :p AND sk BETWEEN :p AND :q")
			in.ExpressionAttributeValues[":q"] = str("A")
		}),
		"a partition key over 2 KB": putting(key(strings.Repeat("k", 2049), "1")),
		"a sort key over 1 KB":      putting(key("a", strings.Repeat("k", 1025))),
		"a large key of an index": putting(with(with(key("a", "2"), "g", str("g")), "at",
			str(strings.Repeat("k", 1025)))),
		"a number that is too large": putting(with(key("a", "2"), "x", num("1e126"))),
		"a number that is too small": putting(with(key("a", "2"), "x", num("1e-131"))),
		"a text that is subtracted": updating("SET x = if_not_exists(x, :n) - :x",
			item{":n": num("2"), ":x": str("2")}),
		"redundant parentheses": asking(
			func(in *dynamodb.QueryInput) { in.FilterExpression = aws.String("((x = :p))") }),
		"an attribute and itself": asking(
			func(in *dynamodb.QueryInput) { in.FilterExpression = aws.String("x = x") }),
		"a flag that is compared": comparing("x < :x", &types.AttributeValueMemberBOOL{Value: true}),
		"a number as a prefix":    comparing("begins_with(x, :x)", num("1")),
		"bounds of two types":     comparing("x BETWEEN :p AND :x", num("1")),
		"a partition of another type": asking(
			func(in *dynamodb.QueryInput) { in.ExpressionAttributeValues[":p"] = num("1") }),
		"a start outside the bounds": asking(func(in *dynamodb.QueryInput) {
			in.KeyConditionExpression, in.ExclusiveStartKey = aws.String("pk = :p AND sk > :p"), key("a", "1")
		}),
		"an empty map of names": asking(
			func(in *dynamodb.QueryInput) { in.ExpressionAttributeNames = map[string]string{} }),
		"a put that returns the new item": func() error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: key("a", "2"),
				ReturnValues: types.ReturnValueAllNew})
			return err
		}(),
		"a key twice":              getting(key("a", "1"), key("a", "1")),
		"more than the key":        getting(with(key("a", "1"), "x", str("x"))),
		"too many writes":          writing(101, digits),
		"two writes of an item":    writing(2, func(int) string { return "1" }),
		"an empty key in a batch":  writing(2, func(i int) string { return strings.Repeat("x", i) }),
		"a transaction over 4 MB ": tooLarge(ctx, c),
	} {
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != "ValidationException" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func tooLarge(ctx context.Context, c *dynamodb.Client) error {
	in := &dynamodb.TransactWriteItemsInput{}
	for i := range 11 {
		it := with(key("b", fmt.Sprint(i)), "x", str(strings.Repeat("x", 399<<10)))
		in.TransactItems = append(in.TransactItems,
			types.TransactWriteItem{Put: &types.Put{TableName: aws.String(table), Item: it}})
	}
	_, err := c.TransactWriteItems(ctx, in)
	return err
}

func TestChanges(t *testing.T) {
	e, c := client(t, time.Now)
	put(t, c, key("a", "1"))
	put(t, c, key("a", "1")) // which changes nothing
	put(t, c, with(key("a", "1"), "x", num("0100")))
	if _, err := c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table),
		Key: key("a", "1")}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, change := range e.Changes(table, 0) {
		got = append(got, fmt.Sprint(change.Event, len(change.Old), len(change.New)))
	}
	if fmt.Sprint(got) != "[INSERT0 2 MODIFY2 3 REMOVE3 0]" {
		t.Errorf("the changes are %v", got)
	}
	if n := e.Changes(table, 1)[0].New["x"].(*types.AttributeValueMemberN).Value; n != "100" {
		t.Errorf("the number is %s", n)
	}
}

// A transaction whose token is known is not carried out again, for ten minutes.
func TestRequestTokens(t *testing.T) {
	now := time.Unix(0, 0)
	_, c := client(t, func() time.Time { return now })
	count := func(by string) (total string, err error) {
		_, err = c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("token"),
			TransactItems: []types.TransactWriteItem{{Update: &types.Update{
				TableName: aws.String(table), Key: key("a", "1"), UpdateExpression: aws.String("ADD x :x"),
				ExpressionAttributeValues: item{":x": num(by)},
			}}},
		})
		out, getErr := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("a", "1")})
		if getErr != nil {
			t.Fatal(getErr)
		}
		return out.Item["x"].(*types.AttributeValueMemberN).Value, err
	}
	for i, want := range []string{"1.5", "1.5", "3"} {
		if i == 2 {
			now = now.Add(10 * time.Minute)
		}
		if got, err := count("1.50"); err != nil || got != want {
			t.Errorf("call %d: %s, %v; want %s", i, got, err, want)
		}
	}
	var other *types.IdempotentParameterMismatchException
	if _, err := count("2"); !errors.As(err, &other) {
		t.Errorf("another transaction: %v", err)
	}
}

// Each write of a canceled transaction has its reason.
func TestCancellationReasons(t *testing.T) {
	_, c := client(t, time.Now)
	put(t, c, key("a", "1"))
	absent := func(sk string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String(table), Item: key("a", sk),
			ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}
	}
	text := types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(table), Key: key("a", "3"), UpdateExpression: aws.String("SET at = :at"),
		ExpressionAttributeValues: item{":at": num("1")},
	}}
	_, err := c.TransactWriteItems(t.Context(),
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{absent("1"), absent("2"), text}})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatal(err)
	}
	var got []string
	for _, r := range canceled.CancellationReasons {
		got = append(got, fmt.Sprint(aws.ToString(r.Code), len(r.Item)))
	}
	if fmt.Sprint(got) != "[ConditionalCheckFailed2 None0 ValidationError0]" {
		t.Errorf("the reasons are %v", got)
	}
}
