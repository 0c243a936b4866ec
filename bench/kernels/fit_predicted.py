#!/usr/bin/env python3
"""Fits cycles_each of codegen/backend/cpu/expect/expected.c to measured kernels, by descent along one figure at a time, and prints them with residuals.

usage: fit_predicted.py CSV FOLDER [CSV FOLDER]   of bench/kernels/predicted.py, run once with TIMED=CSV, which leaves manifests in FOLDER/*.new;
the second pair is told apart: kernels that nothing was fitted to.  HZ: the clock.
"""
import csv
import json
import os
import sys

import numpy as np

HZ = float(os.environ.get("HZ", "4.296e9"))
names="f32 bf16 int8 few channels gone waits rest window simple access narrow byte quotient root exp erf trig scatter scatter-narrow strided row sum scalar memory-0 memory-1 memory-2".split()
def load(path,root):
    rows=list(csv.DictReader(open(path))); X=[];y=[]
    for r in rows:
        p=json.load(open(f"{root}/{r['case']}.new/manifest.json"))["kernel_parts"]
        X.append([p.get(n,0) for n in names]+[1]); y.append(float(r["measured_ms"])*1e-3*HZ)
    return np.array(X),np.array(y),rows
n=len(names)-3
def predict(X,c):
    C=X[:,:n]@c[:n]+X[:,-1]*c[-1]; M=(X[:,n:n+3]*c[n:n+3]).max(1)
    return (C**P+M**P)**(1/P)
P=3.0
def loss(X,y,c):
    e=np.abs(np.log(np.maximum(predict(X,c),1)/y)); return (1-np.exp(-(e/0.3)**2)).sum()+0.15*np.minimum(e,2).sum()
def report(X,y,rows,c,worst=25):
    q=y/predict(X,c)
    for k in [*dict.fromkeys(r["kind"] for r in rows)]:
        s=""
        for d in ("f32","bf16","int8"):
            v=sorted(q[i] for i in range(len(y)) if rows[i]["kind"]==k and rows[i]["dtype"]==d); s+=f"{sum(.8<=x<=1.25 for x in v)}/{len(v)} {v[len(v)//2]:.2f} | "
        print(k,s)
    print("within",((q<=1.25)&(q>=.8)).sum(),len(q))
    for i in sorted(range(len(y)),key=lambda i:-abs(np.log(q[i])))[:worst]: print(round(q[i],3),rows[i]["case"],rows[i]["params"],{m:float(f"{v:.3g}") for m,v in zip(names,X[i]) if v>0},f"{y[i]:.3g}")
if __name__=="__main__":
    X,y,rows=load(sys.argv[1],sys.argv[2])
    c=np.array([1,.8,.8,1,1,1,1,.5,1,.5,.3,.5,1,3,5,5,10,20,.5,1,1,3,5,2,1,1,1,100],float)
    best=loss(X,y,c); step=1.6
    for it in range(40):
        moved=False
        for j in range(len(c)):
            for f in (step,1/step,0):
                t=c.copy(); t[j]*=f
                if f==0 and c[j]==0: t[j]=.1
                l=loss(X,y,t)
                if l<best-1e-6: best,c,moved=l,t,True
        if not moved: step=step**.6
        if step<1.01: break
    print(dict(zip(names+["call"],[float(f"{v:.2g}") for v in c])),best)
    c=np.array([float(f"{v:.2g}") for v in c])
    report(X,y,rows,c)
    if len(sys.argv)>3:
        X,y,rows=load(sys.argv[3],sys.argv[4]); print("---- unseen"); report(X,y,rows,c)
