package git_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// configure sets something in a repository.
func configure(t *testing.T, path, key, value string) {
	t.Helper()
	if out, err := exec.Command("git", "-C", path, "config", key,
		value).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A deletion sends the names of the files that stay, and not the files.
func TestDeleteSendsLittle(t *testing.T) {
	t.Parallel()
	path := repository(t)
	configure(t, path, "receive.unpackLimit", "1") // a file for each push
	// As git init --shared does: for branches alone
	configure(t, path, "receive.denyNonFastForwards", "true")
	big := make([]byte, 1<<20)
	for i, random := 0, rand.New(rand.NewPCG(1, 2)); i < len(big); i++ {
		big[i] = byte(random.Uint32())
	}
	r := open(t, path)
	if err := errors.Join(
		r.PutNew(t.Context(), "stores/a/pack/1", []byte("goes")),
		r.PutNew(t.Context(), "stores/a/pack/2", big),
		r.Swap(t.Context(), "heads/a", nil, []byte("one")),
		r.Delete(t.Context(), []string{"stores/a/pack/1"}),
	); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(path, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 2 {
		t.Fatalf("two pushes brought %q, error %v", packs, err)
	}
	var size int64
	for _, pack := range packs {
		info, err := os.Stat(pack)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if most := int64(len(big) + 10_000); size > most {
		t.Errorf("the repository was sent %d bytes, want %d at most", size, most)
	}
}
