package store_test

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/store/memtable"
)

// observed is an engine with a table, and the changes that its observer gets, by call.
func observed(t *testing.T) (*memtable.Engine, *[][]memtable.Change) {
	t.Helper()
	var calls [][]memtable.Change
	e := memtable.NewObserved(time.Now, func(c []memtable.Change) func() {
		calls = append(calls, c)
		return nil
	})
	if _, err := e.CreateTable(t.Context(), things()); err != nil {
		t.Fatal(err)
	}
	return e, &calls
}

func putting(it item, condition *string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String(table), Item: it,
		ConditionExpression: condition}}
}

func TestAnObserverGetsTheChangesOfEachCall(t *testing.T) {
	e, calls := observed(t)
	one, two := with(key("a", "1"), "n", num("1")), with(key("a", "2"), "n", num("2"))
	moved := with(key("a", "1"), "n", num("3"))
	name := aws.String(table)
	// got returns the changes since the last check.
	got := func() (all [][]memtable.Change) {
		all, *calls = *calls, nil
		return all
	}
	want := func(call string, err error, changes ...memtable.Change) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		if g := got(); !reflect.DeepEqual(g, [][]memtable.Change{changes}) {
			t.Errorf("%s: %v", call, g)
		}
	}
	_, err := e.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{putting(one, nil), putting(two, nil)}})
	want("a transaction", err, memtable.Change{Table: table, Event: "INSERT", New: one},
		memtable.Change{Table: table, Event: "INSERT", New: two})

	_, err = e.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: moved})
	want("a put", err, memtable.Change{Table: table, Event: "MODIFY", Old: one, New: moved})

	_, err = e.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: name, Key: key("a", "2")})
	want("a removal", err, memtable.Change{Table: table, Event: "REMOVE", Old: two})

	// Calls that fail, and calls that change nothing, have no changes.
	none := aws.String("attribute_not_exists(pk)")
	if _, err := e.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{putting(two, none), putting(one, none)}}); err == nil {
		t.Error("a transaction whose condition fails has no error")
	}
	if _, err := e.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: one,
		ConditionExpression: none}); err == nil {
		t.Error("a put whose condition fails has no error")
	}
	if _, err := e.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: name, Key: key("b", "1"),
		ReturnValues: types.ReturnValueUpdatedNew}); err == nil {
		t.Error("an update that returns what it may not has no error")
	}
	if _, err := e.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: moved}); err != nil {
		t.Error(err)
	}
	if g := got(); g != nil {
		t.Errorf("nothing has changed, but the observer got %v", g)
	}
	if kept := e.Changes(table, 0); kept != nil {
		t.Errorf("the engine keeps %v, too", kept)
	}
	left, err := e.Scan(t.Context(), &dynamodb.ScanInput{TableName: name})
	if err != nil || !reflect.DeepEqual(left.Items, []map[string]types.AttributeValue{moved}) {
		t.Errorf("the table has %v, %v", left.Items, err)
	}
}

// A panic of the observer must not leave the engine locked.
func TestAnEngineOutlivesAPanicOfItsObserver(t *testing.T) {
	broken := true
	e := memtable.NewObserved(time.Now, func([]memtable.Change) func() {
		if broken {
			panic("broken")
		}
		return nil
	})
	if _, err := e.CreateTable(t.Context(), things()); err != nil {
		t.Fatal(err)
	}
	in := &dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a", "1")}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic does not reach the caller")
			}
		}()
		_, _ = e.PutItem(t.Context(), in)
	}()
	broken = false
	if _, err := e.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: in.TableName,
		Key: key("a", "1")}); err != nil {
		t.Error(err)
	}
}

func TestRestoredItemsAreThereWithoutAChange(t *testing.T) {
	e, calls := observed(t)
	it := with(with(key("a", "1"), "g", str("group")), "at", str("2026"))
	if err := e.Restore(table, it, key("a", "2")); err != nil {
		t.Fatal(err)
	}
	if len(*calls) > 0 {
		t.Errorf("the observer got %v", *calls)
	}
	out, err := e.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String(table), IndexName: aws.String("by_g"),
		KeyConditionExpression:    aws.String("g = :g"),
		ExpressionAttributeValues: item{":g": str("group")}})
	if err != nil || !reflect.DeepEqual(out.Items, []map[string]types.AttributeValue{it}) {
		t.Errorf("the index has %v, %v", out, err)
	}
	if _, err := e.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a", "2"),
		ConditionExpression: aws.String("attribute_not_exists(pk)")}); err == nil {
		t.Error("the second item is not there")
	}
	if err := e.Restore("others", it); err == nil {
		t.Error("an unknown table has no error")
	}
	if err := e.Restore(table, item{"pk": str("a")}); err == nil {
		t.Error("an item without its key has no error")
	}
}

func TestAnItemOutlivesItsEncoding(t *testing.T) {
	e, _ := observed(t)
	binary := make([]byte, 256)
	for i := range binary {
		binary[i] = byte(i)
	}
	want := item{"s": str("ünï\u2028<&>\""), "empty": str(""), "n": num("12345678901234567890.5"),
		"b": &types.AttributeValueMemberB{Value: binary}, "yes": &types.AttributeValueMemberBOOL{Value: true},
		"no": &types.AttributeValueMemberBOOL{}, "null": &types.AttributeValueMemberNULL{Value: true},
		"pk": str("a name with a number")}
	got, err := memtable.DecodeItem(memtable.EncodeItem(want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	whole := string(memtable.EncodeItem(item{"s": str("a")}))
	for _, bad := range []string{``, whole[:len(whole)-1], whole + "S", "\x02" + whole[1:],
		"\x01X\x01a", "\x01S\xff\xff\xff\xff\x0f", "\x01S\x00", "\x01S\x00\xff\x01a",
		"\x80\x80\x80\x80\x80\x80", `{"s":{"S":"a"}}`} {
		if it, err := memtable.DecodeItem([]byte(bad)); err == nil {
			t.Errorf("%q is %v", bad, it)
		}
		if err := e.RestorePacked(table, []byte(bad)); err == nil {
			t.Errorf("%q is restored", bad)
		}
	}
}

// A call waits until its changes are written elsewhere. Others go on meanwhile.
func TestACallWaitsForItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := make(chan struct{})
		e := memtable.NewObserved(time.Now, func([]memtable.Change) func() { return func() { <-written } })
		if _, err := e.CreateTable(t.Context(), things()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := e.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a", "1")})
			ended <- err
		}()
		synctest.Wait()
		out, err := e.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("a", "1")})
		if err != nil || out.Item == nil {
			t.Errorf("another call gets %v, %v", out, err)
		}
		select {
		case err := <-ended:
			t.Errorf("the call has ended: %v", err)
		default:
		}
		close(written)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Expire removes all items that have expired, however many there are, and leaves the others.
func TestItemsExpire(t *testing.T) {
	const items = 5_000
	e, calls := observed(t)
	now := time.Unix(1_000_000, 0)
	for i := range items {
		it := with(key(fmt.Sprint("p", i%7), fmt.Sprint(i)), "n", num(fmt.Sprint(now.Unix()-1+int64(i%3))))
		if i%5 == 0 {
			it["n"] = str("1")
		}
		it["g"], it["at"] = str("g"), str(fmt.Sprint(i))
		if err := e.Restore(table, it); err != nil {
			t.Fatal(err)
		}
	}
	e.Expire(table, "n", now)
	e.Expire("others", "n", now)
	want := 0
	for i := range items {
		if i%5 == 0 || i%3 != 0 {
			want++
		}
	}
	left, err := e.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
	if err != nil || len(left.Items) != want {
		t.Errorf("%d items are left, want %d, %v", len(left.Items), want, err)
	}
	told := 0
	for _, changes := range *calls {
		for _, c := range changes {
			if told++; c.Event != "REMOVE" || !c.Expired || c.Old == nil || c.New != nil {
				t.Fatalf("the change is %+v", c)
			}
		}
	}
	if told != items-want {
		t.Errorf("the observer got %d changes, want %d", told, items-want)
	}
	out, err := e.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String(table), IndexName: aws.String("by_g"),
		KeyConditionExpression:    aws.String("g = :g"),
		ExpressionAttributeValues: item{":g": str("g")}})
	if err != nil || len(out.Items) != want {
		t.Errorf("the index has %d items, want %d, %v", len(out.Items), want, err)
	}
}
