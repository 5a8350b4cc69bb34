package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"
)

// writes are the calls that change a table.
var writes = []step{
	{operation: "PutItem"}, {operation: "UpdateItem"}, {operation: "DeleteItem"},
	{operation: "TransactWriteItems"}, {operation: "BatchWriteItem"}, {operation: "BatchExecuteStatement"},
}

// sends are the calls that send something on.
var sends = []step{{operation: "SendMessageBatch"}, {operation: "SendMessage"}, {operation: "PutEvents"}}

// doing is what a fault does to a call.
type doing = func(c call, w http.ResponseWriter, pass func(http.ResponseWriter))

// nobody is the writer of an answer that is lost.
func nobody() http.ResponseWriter { return httptest.NewRecorder() }

// killBefore ends the function before what it asks for is done.
func killBefore(c call, _ http.ResponseWriter, _ func(http.ResponseWriter)) {
	_ = c.kill() // it may have ended by itself
	panic(http.ErrAbortHandler)
}

// killAfter ends the function when what it asks for is done, before it knows.
func killAfter(c call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	_ = c.kill()
	panic(http.ErrAbortHandler)
}

// loseAnswer does what is asked for, and closes the connection without an answer.
func loseAnswer(_ call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	panic(http.ErrAbortHandler)
}

// repeat does what is asked for twice.
func repeat(_ call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	pass(w)
}

// repeatAfter does what is asked for once more after some time.
func repeatAfter(d time.Duration) doing {
	return func(_ call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		time.AfterFunc(d, func() { pass(nobody()) })
		pass(w)
	}
}

// refuse answers as a service that is throttled, or down, without doing anything.
func refuse(c call, w http.ResponseWriter, _ func(http.ResponseWriter)) {
	status, kind := http.StatusBadRequest, "ThrottlingException"
	if len(c.body)%2 == 0 {
		status, kind = http.StatusInternalServerError, "InternalServerError"
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"__type":"%s","message":"Refused."}`, kind)
}

// answer lets a receiver take nothing, and answer with a status.
func answer(status int) doing {
	return func(_ call, w http.ResponseWriter, _ func(http.ResponseWriter)) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "out of order")
	}
}

// hangUp lets a receiver close the connection, as if it were down.
func hangUp(call, http.ResponseWriter, func(http.ResponseWriter)) { panic(http.ErrAbortHandler) }

// silence lets a receiver take nothing and say nothing, until its caller gives up.
func silence(c call, _ http.ResponseWriter, _ func(http.ResponseWriter)) {
	<-c.gone
	panic(http.ErrAbortHandler)
}

// freeze stops the function for a time before what it asks for is done, and lets it
// go on then. Where it has been ended meanwhile, what it asked for is done all the same.
func freeze(d time.Duration) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		_ = c.stop() // it may have ended by itself
		<-time.After(d)
		_ = c.resume()
		pass(w)
	}
}
