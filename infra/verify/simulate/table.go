package simulate

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

// table is the functions' client of the state table. It reaches the table of the world that the calling function
// belongs to.
type table struct{}

var _ store.Client = table{}

// tableName is the name of the state table.
const tableName = "state"

// The errors of calls that fail because of AWS.
var (
	errLost    = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	errRefused = &types.ProvisionedThroughputExceededException{Message: aws.String("refused")}
)

type attributes = map[string]types.AttributeValue

// ask makes a call of the table as the SDK does. If conflict is not nil, it answers a call that conflicts with
// another on the same items.
func ask[In, Out any](ctx context.Context, name, key string, in *In, options []func(*dynamodb.Options),
	do func(*memtable.Engine, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	conflict func(*memtable.Engine) (*Out, error)) (*Out, error) {
	w := invocationOf(ctx).world
	w.permit(invocationOf(ctx).serves, in)
	var out *Out
	err := insist(ctx, func() *call {
		answer := new(*Out)
		c := &call{kind: toTable, key: name + " " + key, lost: errLost, refused: errRefused}
		c.do = func() (err error) {
			// The world outlives the function: a call that was sent is carried out.
			*answer, err = do(w.engine, context.Background(), in, options...)
			out = *answer
			return err
		}
		if conflict != nil {
			c.conflict = func() (err error) {
				out, err = conflict(w.engine)
				return err
			}
		}
		return c
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func keyOf(a attributes) string {
	text := func(name string) string {
		s, _ := a[name].(*types.AttributeValueMemberS)
		if s == nil {
			return "?"
		}
		return s.Value
	}
	return text("pk") + "/" + text("sk")
}

// GetItem implements store.Client.
func (table) GetItem(ctx context.Context, in *dynamodb.GetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := ask(ctx, "GetItem", keyOf(in.Key), in, options, (*memtable.Engine).GetItem, nil)
	if err == nil && invocationOf(ctx).world.Defect == LeaseIgnored {
		hideLease(out.Item)
	}
	return out, err
}

// BatchGetItem implements store.Client. A conflict leaves some keys unprocessed.
func (table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	var names []string
	for _, k := range in.RequestItems[tableName].Keys {
		names = append(names, keyOf(k))
	}
	return ask(ctx, "BatchGetItem", inOrder(names), in, options, (*memtable.Engine).BatchGetItem,
		func(*memtable.Engine) (*dynamodb.BatchGetItemOutput, error) {
			return &dynamodb.BatchGetItemOutput{UnprocessedKeys: in.RequestItems}, nil
		})
}

// Query implements store.Client.
func (table) Query(ctx context.Context, in *dynamodb.QueryInput,
	options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	partition, _ := in.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS)
	key := fmt.Sprint(aws.ToString(in.IndexName), " ", *in.KeyConditionExpression)
	if partition != nil {
		key += " " + partition.Value
	}
	return ask(ctx, "Query", key+" "+keyOf(in.ExclusiveStartKey), in, options, (*memtable.Engine).Query, nil)
}

// Scan implements store.Client.
func (table) Scan(ctx context.Context, in *dynamodb.ScanInput,
	options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return ask(ctx, "Scan", keyOf(in.ExclusiveStartKey), in, options, (*memtable.Engine).Scan, nil)
}

// PutItem implements store.Client.
func (table) PutItem(ctx context.Context, in *dynamodb.PutItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if invocationOf(ctx).world.Defect == StepUnfenced {
		put := unfenced(types.Put{Item: in.Item, ConditionExpression: in.ConditionExpression,
			ExpressionAttributeNames:  in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues})
		changed := *in
		changed.ConditionExpression, changed.ExpressionAttributeNames,
			changed.ExpressionAttributeValues = put.ConditionExpression, put.ExpressionAttributeNames,
			put.ExpressionAttributeValues
		in = &changed
	}
	return ask(ctx, "PutItem", keyOf(in.Item), in, options, (*memtable.Engine).PutItem,
		func(*memtable.Engine) (*dynamodb.PutItemOutput, error) {
			return nil, &types.TransactionConflictException{Message: aws.String("conflict")}
		})
}

// UpdateItem implements store.Client.
func (table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return ask(ctx, "UpdateItem", keyOf(in.Key), in, options, (*memtable.Engine).UpdateItem,
		func(*memtable.Engine) (*dynamodb.UpdateItemOutput, error) {
			return nil, &types.TransactionConflictException{Message: aws.String("conflict")}
		})
}

// TransactWriteItems implements store.Client.
func (table) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	w := invocationOf(ctx).world
	if w.Defect == StepUnfenced {
		changed := *in
		changed.TransactItems = slices.Clone(in.TransactItems)
		for i, item := range changed.TransactItems {
			if item.Put != nil {
				put := unfenced(*item.Put)
				changed.TransactItems[i].Put = &put
			}
		}
		in = &changed
	}
	var names []string
	for _, item := range in.TransactItems {
		switch {
		case item.Put != nil:
			names = append(names, "+"+keyOf(item.Put.Item))
		case item.Update != nil:
			names = append(names, "~"+keyOf(item.Update.Key))
		case item.Delete != nil:
			names = append(names, "-"+keyOf(item.Delete.Key))
		case item.ConditionCheck != nil:
			names = append(names, "?"+keyOf(item.ConditionCheck.Key))
		}
	}
	return ask(ctx, "TransactWriteItems", strings.Join(names, " "), in, options, (*memtable.Engine).TransactWriteItems,
		func(*memtable.Engine) (*dynamodb.TransactWriteItemsOutput, error) {
			reasons := make([]types.CancellationReason, len(in.TransactItems))
			for i := range reasons {
				reasons[i].Code = aws.String("None")
			}
			reasons[w.random.IntN(len(reasons))].Code = aws.String("TransactionConflict")
			return nil, &types.TransactionCanceledException{CancellationReasons: reasons}
		})
}
