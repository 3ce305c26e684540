package e2e

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/dbtest"
)

const picture = "\x89PNG\r\n\x1a\n"

// makeFiles writes what is granted as folders.
func (w *world) makeFiles(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"files/home/user/documents/report.pdf": "%PDF-1.7\n\xff", "files/project/src/main.rs": "fn main() {}\n",
		"files/project/config.yaml": "debug: true\n", "files/project/logo.png": picture,
		"files/logs/app.log": "started\n", "files/config.yaml": "debug: false\n",
		"files/docs/guide.md": "# Guide\n", "files/docs/intro.md": "# Introduction\n", "repo/docs/intro.md": "# Introduction\n",
		"files/README.md": "# Files\n", "files/CHANGELOG.md": "- it works\n",
		"repo/README.md": "# Notes\n", "repo/LICENSE": "MIT License\n", "repo/go.mod": "module notes\n", "repo/src/main.rs": "fn main() {}\n",
		"memory/conversation_history.md":   "- Ada: hello\n",
		"config/app.ini":                   "[server]\nport = 8080\npassword = " + secret + "\n",
		"settings/production/database.yml": "production:\n  host: db\n  password: " + secret + "\n",
		"logs/app-2026-11-22.log":          "2026-11-22T09:00:00Z INFO started\n2026-11-22T09:00:01Z ERROR disk full\n",
		"screens/display2.png":             picture,
	} {
		file := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// append adds to a file, as a client does that has no tool for it.
func (w *world) append(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// run runs a program to its end.
func run(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
}

func (w *world) makeRepository(t *testing.T) {
	t.Helper()
	repo := filepath.Join(w.dir, "repo")
	run(t, repo, "git", "init", "-q", "-b", "main")
	run(t, repo, "git", "add", ".")
	run(t, repo, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "say hello")
}

// startSQLite makes the database of the example users.
func (w *world) startSQLite(t *testing.T) error {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		return err
	}
	file := filepath.Join(w.dir, "users.db")
	run(t, ".", "sqlite3", file, ".read ../../examples/wasm/users/users.sql")
	w.grant("users", "--sql", "main=sqlite:"+file)
	return nil
}

func (w *world) startPostgres(t *testing.T) error {
	t.Helper()
	server, err := dbtest.Postgres()
	if err := unless(t, err); err != nil {
		return err
	}
	t.Cleanup(func() { _ = server.Close() })
	for _, c := range [][2]string{{"postgres", "create database mydb"}, {"mydb", `
create table users (id int primary key, name text not null);
insert into users values (1, 'Ada');
create table customers (id int primary key, city text);
create role reader login;
grant select on users, customers to reader`}} {
		run(t, ".", "psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", c[1], server.PostgresURL("postgres", c[0]))
	}
	w.env = append(w.env, "MYDB="+server.PostgresURL("reader", "mydb"))
	w.grant("postgres", "--sql", "database=env:MYDB", "--sql", "localhost=env:MYDB")
	return nil
}

func (w *world) startMariaDB(t *testing.T) error {
	t.Helper()
	server, err := dbtest.MariaDB()
	if err := unless(t, err); err != nil {
		return err
	}
	t.Cleanup(func() { _ = server.Close() })
	run(t, ".", "mariadb", "--no-defaults", "--socket="+server.Dir+"/socket", "--user=root", "--execute", `create database sales;
create table sales.quarterly_reports (quarter varchar(10) primary key, revenue int);
insert into sales.quarterly_reports values ('2026-Q3', 1200);
create user reader@localhost;
grant select on sales.* to reader@localhost`)
	w.env = append(w.env, "SALES="+server.MariaDBURL("reader", "sales"))
	w.grant("mysql", "--sql", "analytics=env:SALES")
	return nil
}

// captureDisplay has the script of the example screenshots take a picture of a real X display.
func (w *world) captureDisplay(t *testing.T) error {
	t.Helper()
	for _, program := range []string{"Xvfb", "xwd", "xwdtopnm", "pnmtopng"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	number, numberEnd, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer number.Close()
	server := exec.Command("sh", "-c", `"$@" & server=$!; cat >/dev/null; kill $server; wait $server`, "sh",
		"Xvfb", "-displayfd", "3", "-screen", "0", "320x200x24", "-nolisten", "tcp")
	server.ExtraFiles = []*os.File{numberEnd}
	life, err := server.StdinPipe() // closed when this process ends, too
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = life.Close()
		_ = server.Wait() // it ends by a signal
	})
	_ = numberEnd.Close()
	_ = number.SetReadDeadline(time.Now().Add(time.Minute))
	display, err := bufio.NewReader(number).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not say which display it has: %v", err)
	}
	run(t, ".", "env", "DISPLAY=:"+strings.TrimSpace(display),
		"../../examples/wasm/screenshots/capture.sh", filepath.Join(w.dir, "screens"), "display1")
	return nil
}

// An origin is a server with a site, an API like GitHub's of a repository, and the API of the example openapi.
type origin struct {
	*httptest.Server
	certificate string // the path of a file
}

func newOrigin(t *testing.T, repo string) *origin {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(pattern, mime, text string) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mime)
			fmt.Fprint(w, text)
		})
	}
	serve("/docs/intro.html", "text/html; charset=utf-8", "<h1>Größe</h1>")
	serve("/docs/logo.png", "image/png", picture)
	serve("/v1/status", "application/json", `{"open":true}`)
	mux.HandleFunc("GET /v1/books", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"query":%q}`, r.URL.RawQuery)
	})
	mux.HandleFunc("GET /v1/books/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"id": r.PathValue("id")})
	})
	mux.HandleFunc("GET /api/v3/repos/ada/notes/contents/{path...}", func(w http.ResponseWriter, r *http.Request) {
		text, err := exec.Command("git", "-C", repo, "show", r.FormValue("ref")+":"+r.PathValue("path")).Output()
		switch {
		case r.Header.Get("Authorization") != "Bearer "+secret:
			w.WriteHeader(http.StatusUnauthorized)
		case err != nil:
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
			_, _ = w.Write(text)
		}
	})
	o := &origin{httptest.NewTLSServer(mux), filepath.Join(t.TempDir(), "certificate.pem")}
	t.Cleanup(o.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: o.Certificate().Raw})
	if err := os.WriteFile(o.certificate, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return o
}
