package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store/memtable"
)

// memory returns a client of an engine in memory.
func memory() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://memory"), HTTPClient: memtable.New(time.Now),
		Retryer:     aws.NopRetryer{},
		Credentials: credentials(),
	})
}

func credentials() aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "memtable", SecretAccessKey: "test"}, nil
	})
}

// engine returns a client of AWS's own engine, if the tests run on it.
func engine() (*dynamodb.Client, bool) {
	address := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &address, Retryer: aws.NopRetryer{}, Credentials: credentials(),
	}), address != ""
}

// tableName is as long as the names of the tests' tables.
const tableName = "test-differential"

// answers makes a table, makes the calls of a seed, and returns each with its answer.
func answers(t interface{ Fatal(...any) }, c *dynamodb.Client, seed uint64, n int) (calls []call, all []string) {
	ctx := context.Background()
	if err := storetest.CreateTable(ctx, c, tableName); err != nil {
		t.Fatal(err)
	}
	g := &generator{rand.New(rand.NewPCG(seed, 1)), tableName}
	for range n {
		made := g.next()
		out, err := made.do(ctx, c)
		calls, all = append(calls, made), append(all, answer(out, err))
	}
	if _, err := c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(tableName)}); err != nil {
		t.Fatal(err)
	}
	return calls, all
}

// answer writes the relevant part of an answer: its items, or its error's code with the items and the codes that it
// has.
func answer(out any, err error) string {
	var canceled *types.TransactionCanceledException
	var failed *types.ConditionalCheckFailedException
	var api smithy.APIError
	switch {
	case errors.As(err, &canceled):
		var reasons []string
		for _, r := range canceled.CancellationReasons {
			// DynamoDB refuses some writes before it carries out their transaction, and some
			// while it does.
			if aws.ToString(r.Code) == "ValidationError" {
				return "ValidationException"
			}
			reasons = append(reasons, aws.ToString(r.Code)+written(r.Item))
		}
		return fmt.Sprint("canceled ", reasons)
	case errors.As(err, &failed):
		return "failed " + written(failed.Item)
	case errors.As(err, &api):
		return api.ErrorCode()
	case err != nil:
		// The SDK refuses a request without a required member before it sends it.
		return "not sent"
	}
	switch out := out.(type) {
	case *dynamodb.PutItemOutput:
		return "put " + written(out.Attributes)
	case *dynamodb.UpdateItemOutput:
		return "updated " + written(out.Attributes)
	case *dynamodb.GetItemOutput:
		return "got " + written(out.Item)
	case *dynamodb.BatchGetItemOutput:
		var items []string
		for _, it := range out.Responses[tableName] {
			items = append(items, written(it))
		}
		slices.Sort(items)
		return fmt.Sprint("got ", items, len(out.UnprocessedKeys))
	case *dynamodb.QueryOutput:
		var items []string
		for _, it := range out.Items {
			items = append(items, written(it))
		}
		return fmt.Sprint("read ", items, out.Count, out.ScannedCount, next, written(out.LastEvaluatedKey))
	default:
		return "done"
	}
}

// written writes an item, its attributes sorted.
func written(it item) string {
	if it == nil {
		return ""
	}
	plain := map[string]any{}
	for name, v := range it {
		if n, ok := v.(*types.AttributeValueMemberN); ok {
			// DynamoDB Local returns some numbers as they were sent.
			if r, ok := new(big.Rat).SetString(n.Value); ok {
				v = num(r.RatString())
			}
		}
		b, _ := json.Marshal(v)
		plain[name] = fmt.Sprintf("%.40s",
			strings.TrimPrefix(fmt.Sprintf("%T", v), "*types.AttributeValueMember")+string(b))
	}
	b, _ := json.Marshal(plain) // which sorts
	return string(b)
}

// next stands before the key that a list goes on behind.
const next = " next "

// agree reports whether two answers mean the same. At the last item, a page that has as
// many items as it may have goes on to an empty one, or ends.
func agree(c call, got, want string) bool {
	if got == want {
		return true
	}
	in, _ := c.in.(*dynamodb.QueryInput)
	if in == nil || in.Limit == nil {
		return false
	}
	a, onA, _ := strings.Cut(got, next)
	b, onB, _ := strings.Cut(want, next)
	return a == b && strings.HasSuffix(a, fmt.Sprint(" ", *in.Limit)) && (onA == "" || onB == "")
}

// record makes the tests write the answers of AWS's engine to the file.
var record = flag.Bool("record", false, "write testdata/answers.txt as AWS's own engine answers")

const (
	recorded = "memtable/testdata/answers.txt"
	// seeds is the number of sequences that are recorded, and length that of their calls.
	seeds, length = 10, 40
)

// The engine in memory answers the calls of some seeds as AWS's own engine has answered
// them. On that engine, the file is checked, too.
func TestRecordedCalls(t *testing.T) {
	var calls []call
	var got []string
	clients := []*dynamodb.Client{memory()}
	if real, there := engine(); there {
		clients = []*dynamodb.Client{real, memory()}
	}
	for i, c := range clients {
		calls, got = nil, nil
		for seed := range seeds {
			made, all := answers(t, c, uint64(seed), length)
			calls, got = append(calls, made...), append(got, all...)
		}
		if *record && i == 0 && len(clients) == 2 {
			if err := os.WriteFile(recorded, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.ReadFile(recorded)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
		if len(want) != len(got) {
			t.Fatalf("%d calls, and %d answers in %s: record them with -record on AWS's own engine", len(got),
				len(want), recorded)
		}
		compare(t, calls, got, want)
	}
}

// sequences is small and its seeds are always the same, so that the test is repeatable. A larger number finds rare
// differences, most of them where DynamoDB Local does not check the request.
var sequences = flag.Int("sequences", 100, "compare this many sequences of calls with AWS's own engine")

// The engine in memory answers generated calls as AWS's own engine does.
func TestGeneratedCalls(t *testing.T) {
	real, there := engine()
	if !there {
		t.Log("without AWS's own engine, the recorded answers are compared alone")
		return
	}
	for seed := range *sequences {
		calls, want := answers(t, real, uint64(seeds+seed), length)
		_, got := answers(t, memory(), uint64(seeds+seed), length)
		compare(t, calls, got, want)
	}
}

func compare(t interface{ Errorf(string, ...any) }, calls []call, got, want []string) {
	for i := range want {
		if !agree(calls[i], got[i], want[i]) {
			in, _ := json.Marshal(calls[i].in)
			t.Errorf("call %d, %s %.1500s\nis answered by %s,\nand should be by %s", i, calls[i].name, in,
				got[i], want[i])
			return // the rest differs, too
		}
	}
}
